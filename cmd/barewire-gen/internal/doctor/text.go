package doctor

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// Text is the report for a person, in a terminal of so many columns; 0 is none. Verbose adds each fact and the file that
// says so.
func (r *Report) Text(verbose bool, columns int) ([]byte, error) {
	var b bytes.Buffer
	p := &printer{b: &b, columns: columns}
	p.machine(r)
	p.numa(&r.machine.NUMA)
	p.cxl(r.machine)
	p.rdma(&r.machine.RDMA)
	p.gpu(&r.machine.GPU)
	p.limits(&r.Limits)
	p.modules(&r.Kernel)
	p.residencies(r.Residency)
	p.missing(r.Missing)
	if len(r.Unread) > 0 {
		p.line("\nCould not be read, so what is below is not above:")
		for _, u := range r.Unread {
			p.line("  %s: %s", u.Path, u.Why)
		}
	}
	if err := p.facts(r, verbose); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

type printer struct {
	b       *bytes.Buffer
	columns int // 0: as many as it takes
}

// line writes a sentence. Where it is broken, the rest stands further in. Names in a tree that somebody else made cannot steer the terminal.
func (p *printer) line(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	text := strings.TrimLeft(s, "\n") // an empty line may stand before it
	p.b.WriteString(s[:len(s)-len(text)])
	if text = terminal.Visible(text); p.columns > 0 {
		text = terminal.Wrap(text, p.columns, "  ")
	}
	p.b.WriteString(text + "\n")
}

// table writes rows of cells in columns, two blanks before them. The last cell of a row is broken where there is no more
// room; where there is none for the others, rows are.
func (p *printer) table(rows [][]string) {
	var t bytes.Buffer
	w := tabwriter.NewWriter(&t, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, c := range row {
			row[i] = terminal.Visible(c)
		}
		fmt.Fprintln(w, "  "+strings.Join(append(slices.Clone(row[:len(row)-1]), ""), "\t"))
	}
	// Writing to a buffer does not fail.
	_ = w.Flush()
	leads := strings.Split(strings.TrimSuffix(t.String(), "\n"), "\n")
	if p.columns > 0 && slices.ContainsFunc(leads, func(l string) bool { return utf8.RuneCountInString(l)+narrow > p.columns }) {
		p.folded(rows)
		return
	}
	for i, row := range rows {
		last := row[len(row)-1]
		if p.columns > 0 {
			indent := utf8.RuneCountInString(leads[i])
			last = strings.ReplaceAll(terminal.Wrap(last, p.columns-indent, ""), "\n", "\n"+strings.Repeat(" ", indent))
		}
		p.b.WriteString(strings.TrimRight(leads[i]+last, " ") + "\n")
	}
}

// folded writes a table that is wider than the terminal: all rows are broken before the same columns, so that what stands
// below each other belongs together.
func (p *printer) folded(rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range rows {
		line, at := "  ", 2
		for i, c := range row {
			if i > 0 && at+widths[i] > p.columns {
				p.b.WriteString(strings.TrimRight(line, " ") + "\n")
				line, at = "      ", 6
			}
			line += fmt.Sprintf("%-*s  ", widths[i], c)
			at += widths[i] + 2
		}
		p.b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// narrow is how many columns a last cell must have for being broken.
const narrow = 20

func (p *printer) machine(r *Report) {
	l := fmt.Sprintf("%s: %s", r.Root, r.System)
	if k := r.Kernel.Release; k.Known() {
		l += " " + k.Value
	}
	if n := r.NUMA.CPUsOnline; n.Known() {
		l += fmt.Sprintf(", %s", count(n.Value.Len(), "processor"))
		if a := r.NUMA.CPUsAllowed; a.Known() && a.Value.Len() < n.Value.Len() {
			l += fmt.Sprintf(", %d for this process", a.Value.Len())
		}
	}
	if m := r.Limits.MemoryTotal; m.Known() {
		l += ", " + platform.FormatBytes(m.Value)
	}
	p.line("%s", l)
}

func (p *printer) numa(n *platform.NUMA) {
	if n.Err != nil {
		p.line("\nNUMA: %s", absent(n.Err))
		return
	}
	p.line("\nNUMA: %s", count(len(n.Nodes), "node")+restricted(n))
	rows := [][]string{{"node", "processors", "memory", "free", "kind", "tier", "read", "distances"}}
	usable := n.Usable()
	for i := range n.Nodes {
		node := &n.Nodes[i]
		rows = append(rows, []string{
			fmt.Sprint(node.ID) + marks(node, usable), list(node.CPUs), size(node.Memory.Total), size(node.Memory.Free),
			kind(node), or(node.Tier, "-"), speed(node.Access[1]), distances(node),
		})
	}
	p.table(rows)
	if slices.ContainsFunc(n.Nodes, func(n platform.Node) bool { return strings.Contains(kind(&n), "*") }) {
		p.line("  * concluded from several files; -v says how")
	}
	if n.Possible.Known() && n.Online.Known() {
		if off := n.Possible.Value.Without(n.Online.Value); !off.Empty() {
			p.line("  not online: %s", off)
		}
	}
}

// restricted says what of the machine is not for this process.
func restricted(n *platform.NUMA) string {
	if n.Allowed.Known() && n.Online.Known() && !n.Online.Value.Without(n.Allowed.Value).Empty() {
		return ", of which this process is allowed " + n.Allowed.Value.String()
	}
	return ""
}

// marks says of a node what its row does not.
func marks(n *platform.Node, usable platform.IDs) string {
	switch {
	case !n.Online.Or(true):
		return " offline"
	case !usable.Has(n.ID) && n.Memory.Total.Or(0) > 0:
		return " not allowed"
	case n.Movable.Or(false):
		return " movable"
	}
	return ""
}

// kind is what a node's memory is: with * where it was concluded, and what it probably is.
func kind(n *platform.Node) string {
	switch {
	case !n.Kind.Known():
		return "unknown"
	case n.Likely.Known() && n.Likely.Value != n.Kind.Value:
		return n.Kind.Value.String() + " (" + n.Likely.Value.String() + "?)"
	}
	s := n.Kind.Value.String()
	if n.Kind.Inferred != "" {
		s += "*"
	}
	if len(n.Dax) > 0 {
		s += " " + strings.Join(n.Dax, ",")
	}
	return s
}

func speed(a platform.Access) string {
	var parts []string
	if a.ReadBandwidth.Known() {
		parts = append(parts, fmt.Sprintf("%d MB/s", a.ReadBandwidth.Value))
	}
	if a.ReadLatency.Known() {
		parts = append(parts, fmt.Sprintf("%d ns", a.ReadLatency.Value))
	}
	if len(parts) == 0 {
		return "-"
	}
	return strings.Join(parts, " ")
}

// maxDistances is the most distances that a row shows.
const maxDistances = 16

func distances(n *platform.Node) string {
	if !n.Distances.Known() {
		return "unknown"
	}
	var s []string
	for _, d := range n.Distances.Value {
		if len(s) == maxDistances {
			return strings.Join(s, " ") + " …"
		}
		s = append(s, fmt.Sprint(d.Value))
	}
	return strings.Join(s, " ")
}

func (p *printer) cxl(m *platform.Machine) {
	c := &m.CXL
	if c.Err != nil {
		p.line("\nCXL: %s", absent(c.Err))
	} else {
		p.line("\nCXL: %s, %s", count(len(c.Memdevs), "memory device"), count(len(c.Regions), "region"))
	}
	var rows [][]string
	for _, d := range c.Memdevs {
		rows = append(rows, []string{d.Name, d.Address, capacity(d), "serial " + hex(d.Serial) + ", near node " + or(d.NUMANode, "unknown")})
	}
	for _, r := range c.Regions {
		state := "not committed"
		if r.Committed.Or(false) {
			state = "committed"
		}
		rows = append(rows, []string{r.Name, or(r.Mode, "?"), size(r.Size) + " over " + strings.Join(r.Targets, " and "), state + ": " + strings.Join(r.Dax, ", ")})
	}
	for _, d := range m.Dax {
		rows = append(rows, []string{d.Name, or(d.Kind, "unknown"), size(d.Size) + aligned(d.Align), daxUse(d)})
	}
	p.table(rows)
}

// capacity is the memory that a device has, of the kinds that it has.
func capacity(d platform.Memdev) string {
	s := size(d.RAM) + " volatile"
	if d.PMEM.Or(1) > 0 {
		s += ", " + size(d.PMEM) + " persistent"
	}
	return s
}

func daxUse(d platform.Dax) string {
	switch {
	case !d.Driver.Known():
		return "no driver"
	case d.Driver.Value == "device_dax":
		return "programs may map " + d.Dev
	case d.Online:
		return fmt.Sprintf("node %d", d.TargetNode.Value)
	}
	return fmt.Sprintf("driver %s, for node %s, which is not online", d.Driver.Value, or(d.TargetNode, "unknown"))
}

func (p *printer) rdma(r *platform.RDMA) {
	if r.Err != nil {
		p.line("\nRDMA: %s", absent(r.Err))
		return
	}
	p.line("\nRDMA: %s", count(len(r.Devices), "device"))
	var rows [][]string
	for _, d := range r.Devices {
		at := d.Address
		if at == "" {
			at = "software"
		}
		rows = append(rows, []string{d.Name, at, or(d.NodeType, "?"), "near node " + or(d.NUMANode, "unknown")})
		for _, port := range d.Ports {
			rows = append(rows, []string{fmt.Sprintf("  port %d", port.Number), or(port.LinkLayer, "?"), or(port.State, "?"), or(port.Rate, "?"), gids(port)})
		}
	}
	p.table(rows)
}

func gids(p platform.RDMAPort) string {
	s := or(p.Netdev, "no interface")
	if p.MTU.Known() {
		s += fmt.Sprintf(", MTU %d", p.MTU.Value)
	}
	types := map[string]bool{}
	for _, g := range p.GIDs {
		types[g.Type.Or("unknown type")] = true
	}
	var names []string
	for _, t := range []string{"IB/RoCE v1", "RoCE v2", "unknown type"} {
		if types[t] {
			names = append(names, t)
		}
	}
	return s + ", " + count(len(p.GIDs), "GID") + " " + strings.Join(names, ", ")
}

func (p *printer) gpu(g *platform.GPUs) {
	if g.Err != nil {
		p.line("\nGPU: %s", absent(g.Err))
		return
	}
	p.line("\nGPU: %s", count(len(g.Devices), "device"))
	var rows [][]string
	for _, d := range g.Devices {
		bar := "no BAR"
		if !d.BARs.Known() {
			bar = "BARs unknown"
		}
		if b, ok := d.Largest(); ok {
			bar = fmt.Sprintf("BAR %d of %s", b.Number, platform.FormatBytes(b.Size))
		}
		resizable := "resizable: unknown"
		switch {
		case d.Resizable.Known() && d.Resizable.Value:
			resizable = "resizable"
		case d.Resizable.Known():
			resizable = "not resizable"
		}
		memory := "memory " + size(d.VRAM)
		if d.OwnNode.Known() {
			memory = fmt.Sprintf("memory is node %d", d.OwnNode.Value)
		}
		rows = append(rows, []string{d.Address, d.VendorName(), "driver " + or(d.Driver, "unknown"), memory, bar + ", " + resizable, "near node " + or(d.NUMANode, "unknown")})
	}
	p.table(rows)
}

// aligned is what mappings of a dax device are multiples of.
func aligned(f platform.Fact[uint64]) string {
	if !f.Known() {
		return ", alignment unknown"
	}
	return " aligned to " + size(f)
}

func (p *printer) limits(l *platform.Limits) {
	p.line("\nLimits:")
	transparent := or(l.THP, "unknown")
	if l.THPFiles.Known() {
		transparent += "; of memory files " + l.THPFiles.Value
	}
	rows := [][]string{
		{"locked memory", size(l.MayLock())},
		{"of the control group", size(l.Cgroup)},
		{"page", size(l.PageSize)},
		{"transparent huge pages", transparent},
	}
	for _, h := range l.HugePages {
		rows = append(rows, []string{"huge pages of " + platform.FormatBytes(h.Size), fmt.Sprintf("%s free of %s", or(h.Free, "?"), or(h.Total, "?"))})
	}
	p.table(rows)
}

func (p *printer) modules(k *platform.Kernel) {
	var there, not []string
	for _, m := range k.Modules {
		switch {
		case m.Loaded.Known() && m.Loaded.Value:
			there = append(there, m.Name)
		case m.Loaded.Known():
			not = append(not, m.Name)
		}
	}
	if len(there)+len(not) == 0 {
		p.line("\nKernel modules: unknown")
		return
	}
	p.line("\nKernel modules:")
	var rows [][]string
	for _, x := range []struct {
		what  string
		names []string
	}{{"there", there}, {"not there", not}} {
		if len(x.names) > 0 {
			rows = append(rows, []string{x.what, strings.Join(x.names, " ")})
		}
	}
	p.table(rows)
}

func (p *printer) residencies(all []platform.Residency) {
	p.line("\nWhat a residency gets here:")
	var rows [][]string
	for _, r := range all {
		text := r.Gets
		switch {
		case text == "" && r.Instead != "":
			text = "nothing: " + r.Why + "; " + r.Instead
		case text == "":
			text = "nothing: " + r.Why
		case r.Why != "":
			text += "; " + r.Why
		}
		rows = append(rows, []string{r.Name, text})
	}
	p.table(rows)
}

func (p *printer) missing(all []*platform.Lack) {
	if len(all) == 0 {
		p.line("\nNothing is missing.")
		return
	}
	p.line("\nMissing:")
	for _, l := range all {
		p.line("  %s: %s", l.Asked, l.Why)
		if l.Remedy != "" {
			fmt.Fprintf(p.b, "    %s\n", terminal.Visible(l.Remedy)) // a command is copied whole
		}
	}
}

// facts says what is not known, and with -v all.
func (p *printer) facts(r *Report, verbose bool) error {
	known, unknown, err := r.facts()
	if err != nil {
		return err
	}
	if !verbose {
		p.line("\n%s from files, %d that no file tells; -v lists them.", count(len(known), "fact"), len(unknown))
		return nil
	}
	p.line("\nKnown:")
	for _, f := range known {
		p.line("  %s = %s (%s)", f.path, f.text, f.from)
		if f.inferred != "" {
			p.line("    %s", f.inferred)
		}
	}
	p.line("\nNot known:")
	for _, f := range unknown {
		p.line("  %s: %s (%s)", f.path, f.text, f.from)
	}
	return nil
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func list(f platform.Fact[platform.IDs]) string {
	switch {
	case !f.Known():
		return "unknown"
	case f.Value.Empty():
		return "-"
	}
	return f.Value.String()
}

func size(f platform.Fact[uint64]) string {
	if !f.Known() {
		return "unknown"
	}
	return platform.FormatBytes(f.Value)
}

func hex(f platform.Fact[uint64]) string {
	if !f.Known() {
		return "unknown"
	}
	return fmt.Sprintf("0x%x", f.Value)
}

// or is a fact in letters, or what stands for one that is not known.
func or[T any](f platform.Fact[T], unknown string) string {
	if !f.Known() {
		return unknown
	}
	return fmt.Sprint(f.Value)
}
