package platform

import (
	"errors"
	"fmt"
	"strings"
)

// Residency is what memory of a residency is on a machine.
type Residency struct {
	Name string `json:"name"` // as in schemas: cpu, numa, cxl, cxl_shared, gpu, managed, unified
	// Gets is what there is of it; empty: nothing, and then Instead is what a schema with fallback=unified gets.
	Gets    string `json:"gets,omitempty"`
	Why     string `json:"why,omitempty"` // why there is nothing, or what else it depends on
	Instead string `json:"instead,omitempty"`
}

// Residencies says what each residency of a schema would get on the machine, as far as files tell: what takes a
// driver's word (GPUs) or rights on a device file is said to.
func (m *Machine) Residencies() []Residency {
	all := []Residency{m.cpu(), m.numa(), m.cxl(), m.shared()}
	return append(all, m.gpuResidencies()...)
}

const instead = "unified memory of the machine's own, where the schema says fallback=unified"

func (m *Machine) cpu() Residency {
	r := Residency{Name: "cpu", Gets: "the machine's own memory"}
	if usable := m.NUMA.Usable(); m.NUMA.Err == nil && !usable.Empty() {
		r.Gets = "memory of " + nodesOf(usable) + ", as the kernel chooses"
	}
	return r
}

func (m *Machine) numa() Residency {
	r := Residency{Name: "numa", Instead: instead}
	usable := m.NUMA.Usable()
	switch {
	case errors.Is(m.NUMA.Err, ErrNoSysfs): // calls need no files
		r.Gets, r.Why, r.Instead = "memory bound to a node by its number, if there is such a node", plain(m.NUMA.Err), ""
	case m.NUMA.Err != nil:
		r.Why = plain(m.NUMA.Err)
	case usable.Empty():
		r.Why = "no node is online, has memory and is allowed"
	default:
		r.Gets, r.Instead = "memory bound to one of "+nodesOf(usable), ""
		if usable.Len() == 1 {
			r.Gets = "memory of " + nodesOf(usable) + ", the only one"
		}
		if m.Limits.Nice.Known() && !m.Limits.Nice.Value {
			r.Why = "in containers binding may be forbidden: the process has not CAP_SYS_NICE"
		}
	}
	return r
}

func (m *Machine) cxl() Residency {
	r := Residency{Name: "cxl", Instead: instead}
	var gets []string
	if nodes := m.NUMA.OfKind(MemoryKind.IsCXL); !nodes.Empty() {
		gets = append(gets, "memory bound to "+nodesOf(nodes))
	}
	for _, d := range m.Mappable() {
		gets = append(gets, fmt.Sprintf("%s, %s, for who may open it", d.Dev, FormatBytes(d.Size.Or(0))))
	}
	if len(gets) > 0 {
		r.Gets, r.Instead = strings.Join(gets, "; "), ""
		return r
	}
	r.Why = m.lacksCXL(anyCXL).Why
	return r
}

func (m *Machine) shared() Residency {
	r := Residency{Name: "cxl_shared"}
	var devices []string
	for _, d := range m.Mappable() {
		devices = append(devices, d.Dev)
	}
	if len(devices) == 0 {
		r.Why = "it takes CXL memory as device-dax, or a file, which is not looked for: " + m.lacksCXL(CXLMappable).Why
		return r
	}
	r.Gets = strings.Join(devices, ", ") + ", for who may open it"
	r.Why = "no file tells whether other hosts see it; nothing keeps them coherent"
	return r
}

func (m *Machine) gpuResidencies() []Residency {
	gpu, managed := Residency{Name: "gpu"}, Residency{Name: "managed"}
	unified := Residency{Name: "unified", Gets: "the machine's own memory", Why: "a GPU's, if its driver gives a witness that it is coherent"}
	var names []string
	nvidia := false
	for _, g := range m.GPU.Devices {
		if g.Computes() {
			names = append(names, g.VendorName()+" "+g.Address)
			nvidia = nvidia || g.Vendor.Value == VendorNVIDIA
		}
	}
	switch {
	case len(names) > 0:
		gpu.Gets = "memory of " + strings.Join(names, ", ")
		gpu.Why = "if its driver's library is there: libcuda.so.1 or OpenCL"
	case m.GPU.Err != nil:
		if gpu.Why = plain(m.GPU.Err); m.GPU.Err == ErrNoGPU {
			gpu.Why += " on the PCI bus; OpenCL on processors (PoCL), which needs none, is not looked for"
		}
	default:
		gpu.Why = "the display controllers of the PCI bus do not compute"
	}
	managed.Why = gpu.Why
	if nvidia {
		managed.Gets, managed.Why = gpu.Gets, "if the driver says that the device has it"
	} else if len(names) > 0 {
		managed.Gets, managed.Why = gpu.Gets, "if its OpenCL driver has shared virtual memory"
	}
	if len(names) == 0 && !errors.Is(m.GPU.Err, ErrNoSysfs) {
		unified.Why = "no GPU on the PCI bus could give more"
	}
	return []Residency{gpu, managed, unified}
}

func nodesOf(ids IDs) string {
	if ids.Len() == 1 {
		return "node " + ids.String()
	}
	return "nodes " + ids.String()
}
