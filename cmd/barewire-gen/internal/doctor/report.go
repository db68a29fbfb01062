// Package doctor shows what runtime/platform found, for people and for programs.
package doctor

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// Report is what doctor says: its JSON, but for the version.
type Report struct {
	System    string               `json:"system"`
	Root      string               `json:"root"`
	NUMA      numa                 `json:"numa"`
	CXL       cxl                  `json:"cxl"`
	RDMA      rdma                 `json:"rdma"`
	GPU       gpu                  `json:"gpu"`
	Limits    platform.Limits      `json:"limits"`
	Kernel    platform.Kernel      `json:"kernel"`
	Unread    []platform.Unread    `json:"unread,omitempty"`
	Residency []platform.Residency `json:"residency"`
	Missing   []*platform.Lack     `json:"missing"`

	machine *platform.Machine
}

// The parts of a machine, with why a part is not there.
type (
	numa struct {
		Absent string `json:"absent,omitempty"`
		platform.NUMA
	}
	cxl struct {
		Absent string `json:"absent,omitempty"`
		platform.CXL
		Dax []platform.Dax `json:"dax"`
	}
	rdma struct {
		Absent string `json:"absent,omitempty"`
		platform.RDMA
	}
	gpu struct {
		Absent string `json:"absent,omitempty"`
		platform.GPUs
	}
)

// New makes the report of a machine. Root is what was read, for people.
func New(m *platform.Machine, root string) *Report {
	r := &Report{
		System: m.System, Root: root,
		NUMA: numa{absent(m.NUMA.Err), m.NUMA}, CXL: cxl{absent(m.CXL.Err), m.CXL, m.Dax},
		RDMA: rdma{absent(m.RDMA.Err), m.RDMA}, GPU: gpu{absent(m.GPU.Err), m.GPU},
		Limits: m.Limits, Kernel: m.Kernel, Unread: m.Unread,
		Residency: m.Residencies(), Missing: m.Missing(), machine: m,
	}
	if r.Missing == nil {
		r.Missing = []*platform.Lack{}
	}
	return r
}

// absent is why a part is not there, without the name of the package.
func absent(err error) string {
	if err == nil {
		return ""
	}
	return strings.TrimPrefix(err.Error(), "platform: ")
}

// line is one fact of the report by its path: "numa.nodes[0].memory.total".
type line struct{ path, text, from, inferred string }

// facts gives the facts that are known, and those that are not and why.
func (r *Report) facts() (known, unknown []line, err error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, nil, err
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, nil, err
	}
	walk("", v, func(path string, f map[string]any) {
		from, _ := f["from"].(string)
		if value, ok := f["value"]; ok {
			text, err := json.Marshal(value)
			if err == nil {
				inferred, _ := f["inferred"].(string)
				known = append(known, line{path, string(text), from, inferred})
			}
			return
		}
		unknown = append(unknown, line{path: path, text: fmt.Sprint(f["unknown"]), from: from})
	})
	return known, unknown, nil
}

// walk gives each fact in a JSON value, in the order of paths.
func walk(path string, v any, visit func(string, map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		_, value := v["value"]
		_, unknown := v["unknown"]
		if value || unknown {
			visit(path, v)
			return
		}
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			walk(strings.TrimPrefix(path+"."+key, "."), v[key], visit)
		}
	case []any:
		for i, x := range v {
			name := fmt.Sprint(i)
			if m, ok := x.(map[string]any); ok {
				for _, key := range []string{"name", "id", "address", "number", "index"} {
					if is, ok := m[key]; ok {
						name = fmt.Sprint(is)
						break
					}
				}
			}
			walk(fmt.Sprintf("%s[%s]", path, name), x, visit)
		}
	}
}
