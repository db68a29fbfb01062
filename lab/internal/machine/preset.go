// Package machine has the virtual machines of the lab: what hardware each shows to its kernel, and a boot, from
// switching it on to what its tests have said.
package machine

import (
	"fmt"
	"path/filepath"

	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
)

// Preset is a machine that tests may ask for.
type Preset struct {
	Name   string
	About  string
	Guests int            // how many are switched on together
	Driver *debian.Module // one to build for its kernel, nil: none. It is /lab/<name>.ko in the guest
	Setup  string         // shell, run in each guest as $guest (1, 2) before the first test; it must end with 0

	// args are what QEMU is given for it. dir is of the run, and for files of the machine.
	args func(dir string, guest int) []string
	// words are for the kernel's command line.
	words string
	// quirks are for kernels newer than 6.1: see cxl.
	quirks bool
	// files says that the guest sees dir as /host, read-only.
	files bool
	// breaks says that the guest may have its memory break: the emulator's monitor is at /dev/ttyS2, and the processor is one whose machine checks
	// the kernel takes for recoverable.
	breaks bool
}

// Presets are all there are.
var Presets = []*Preset{rdma, siw, pair, numa, hmem, poison, cxl, share, interleave}

// ByName finds a preset.
func ByName(name string) (*Preset, error) {
	for _, p := range Presets {
		if p.Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("there is no preset %s", name)
}

// plain is a machine without anything to speak of.
func plain(string, int) []string { return []string{"-M", "q35", "-m", "1536", "-smp", "2"} }

// soft makes an RDMA device of a network device, and waits for the addresses by which it is reached: its GIDs.
// Source: rdma-link(8); the kernel's Documentation/ABI/stable/sysfs-class-infiniband.
const soft = `
soft() { # soft NAME TYPE NETDEV
  rdma link add $1 type $2 netdev $3
  [ $2 = rxe ] || return 0
  for i in $(seq 100); do
    grep -qi '^[^0:]' /sys/class/infiniband/$1/ports/1/gids/[0-3] && return 0
    sleep 0.1
  done
  echo "$1 has no address"
  return 1
}
network() { # network DEVICE IPv4 IPv6
  ip link set $1 mtu 4200 up
  ip addr add $2 dev $1
  ip -6 addr add $3 dev $1 nodad
}
`

// rdma has the kernel's software RoCE: rxe0 on a network device with addresses of both kinds, and rxelo on loopback.
var rdma = &Preset{
	Name: "rdma", About: "RDMA on one host: rdma_rxe, RoCEv2 in software, on a dummy device and on loopback",
	Guests: 1, args: plain,
	Setup: soft + `
modprobe rdma_rxe
modprobe rdma_ucm
ip link add bw0 type dummy
network bw0 10.99.0.1/24 fd99::1/64
soft rxe0 rxe bw0
rdma link add rxelo type rxe netdev lo
`,
}

// siw has the kernel's iWARP, which Debian leaves out: the lab builds the module from Debian's source.
var siw = &Preset{
	Name: "siw", About: "iWARP on one host: siw, built from Debian's kernel source, on a dummy device",
	Guests: 1, args: plain, Driver: &debian.Module{Source: "drivers/infiniband/sw/siw", Config: "CONFIG_RDMA_SIW"},
	Setup: soft + `
modprobe ib_uverbs
modprobe rdma_ucm
modprobe iw_cm
for m in $(modinfo -F depends /lab/siw.ko | tr , ' '); do modprobe $m; done
insmod /lab/siw.ko
ip link add bw0 type dummy
network bw0 10.99.0.1/24 fd99::1/64
soft siw0 siw bw0
`,
}

// pair is two machines on one wire, which ends in a network card of each.
var pair = &Preset{
	Name: "pair", About: "two hosts on a virtual wire, rdma_rxe on the network card of each",
	Guests: 2,
	args: func(dir string, guest int) []string {
		return append([]string{"-M", "q35", "-m", "1024", "-smp", "1"}, wired(dir, guest)...)
	},
	Setup: soft + `
modprobe rdma_rxe
modprobe rdma_ucm
network eth0 10.99.0.$guest/24 fd99::$guest/64
soft rxe0 rxe eth0
` + answered,
}

// wired is a network card at an end of the wire between two guests.
func wired(dir string, guest int) []string {
	end := "stream,id=wire,addr.type=unix,addr.path=" + filepath.Join(dir, "wire")
	if guest == 1 {
		end += ",server=on"
	}
	return []string{"-netdev", end, "-device", fmt.Sprintf("virtio-net-pci,bus=pcie.0,netdev=wire,host_mtu=4200,mac=52:54:00:00:00:%02x", guest)}
}

// answered waits until the other guest has answered, and has been answered: who is done at once must not switch itself off while the
// other still waits for it. Source: proc_net_snmp(5), Icmp's tenth word is InEchos.
const answered = `
asked() {
  while read -r of in errs sums unreach times params quench redirects echos rest; do
    if [ "$of" = Icmp: ] && [ "$echos" != InEchos ]; then echo "$echos"; fi
  done < /proc/net/snmp
}
reached=
for i in $(seq 240); do
  [ "$reached" ] || { ping -c 1 -W 2 10.99.0.$((3 - guest)) >/dev/null && reached=yes; }
  if [ "$reached" ] && [ "$(asked)" != 0 ]; then exit 0; fi
  sleep 0.5
done
echo "the other guest does not answer"
exit 1
`

// layered is a machine with two processors, each with memory of its own, and memory at 4 GiB without a processor, slower and
// farther from both. Its HMAT says how slow. Source: the ACPI specification, 5.2.28; qemu(1), -numa.
func layered(string, int) []string {
	args := []string{"-M", "q35,hmat=on", "-m", "3072", "-smp", "2,sockets=2,cores=1,threads=1"}
	for node, initiator := range []int{0, 1, 0} {
		id := fmt.Sprintf("m%d", node)
		args = append(args, "-object", "memory-backend-ram,size=1G,id="+id,
			"-numa", fmt.Sprintf("node,nodeid=%d,memdev=%s,initiator=%d", node, id, initiator))
	}
	for cpu := range 2 {
		args = append(args, "-numa", fmt.Sprintf("cpu,node-id=%d,socket-id=%d", cpu, cpu))
	}
	for _, d := range []struct{ src, dst, val int }{{0, 1, 21}, {0, 2, 17}, {1, 2, 28}} {
		args = append(args, "-numa", fmt.Sprintf("dist,src=%d,dst=%d,val=%d", d.src, d.dst, d.val))
	}
	for _, l := range []struct{ initiator, target, ns, gib int }{
		{0, 0, 100, 20}, {0, 1, 200, 10}, {0, 2, 400, 4}, {1, 0, 200, 10}, {1, 1, 100, 20}, {1, 2, 600, 2},
	} {
		lb := fmt.Sprintf("hmat-lb,initiator=%d,target=%d,hierarchy=memory,data-type=access-", l.initiator, l.target)
		args = append(args, "-numa", fmt.Sprintf("%slatency,latency=%d", lb, l.ns),
			"-numa", fmt.Sprintf("%sbandwidth,bandwidth=%dG", lb, l.gib))
	}
	return args
}

// numa has the slow memory be a node.
var numa = &Preset{
	Name: "numa", About: "two NUMA nodes, a third of memory only, an HMAT; rdma_rxe on loopback",
	Guests: 1, args: layered,
	Setup: "modprobe rdma_rxe\nmodprobe rdma_ucm\nrdma link add rxe0 type rxe netdev lo\n",
}

// hmem has the slow memory be reserved for those who ask for it by name, as firmware does with CXL and high bandwidth memory:
// E820 type 0xefffffff is "soft reserved". Without EFI the kernel's command line has to say so.
var hmem = &Preset{
	Name: "hmem", About: "memory that firmware has soft-reserved, as device-dax dax0.0; rdma_rxe on loopback",
	Guests: 1, args: layered, words: "memmap=1G%4G-1+0xefffffff",
	// What becomes system memory later must be movable, or it cannot be taken back. 6.12 gives the device to kmem.
	Setup: numa.Setup + `
echo offline > /sys/devices/system/memory/auto_online_blocks
modprobe dax_hmem
modprobe device_dax
modprobe kmem
for i in $(seq 100); do [ -e /sys/bus/dax/devices/dax0.0 ] && break; sleep 0.1; done
[ "$(basename "$(readlink /sys/bus/dax/devices/dax0.0/driver)")" = device_dax ] || daxctl reconfigure-device --mode=devdax --force dax0.0
for i in $(seq 100); do [ -c /dev/dax0.0 ] && break; sleep 0.1; done
[ -c /dev/dax0.0 ]
`,
}

// poison is hmem with memory that breaks. A machine check in the midst of a kernel ends it, so the second processor has no timer while
// it runs one program. Source: the kernel's Documentation/timers/no_hz.rst.
var poison = &Preset{
	Name: "poison", About: "hmem, with machine checks: the emulator's monitor is at /dev/ttyS2; the second processor runs without a tick",
	Guests: 1, args: layered, breaks: true, words: hmem.words + " numa_balancing=disable nohz_full=1 isolcpus=nohz,domain,managed_irq,1 irqaffinity=0 rcu_nocbs=1", Setup: hmem.Setup,
}

// cxl has a CXL memory device of type 3, made a region, a namespace and a device-dax.
//
// The second root port is empty: with one port alone Linux takes the host bridge to pass all through, leaves its decoder
// unprogrammed, and QEMU 7.2 drops what is written, while everybody says success. What is read back must be looked at.
var cxl = &Preset{
	Name: "cxl", About: "CXL memory of type 3: region, namespace, device-dax dax0.0; its memory is the file /host/cxl0; rdma_rxe on loopback",
	Guests: 1, quirks: true, files: true,
	args: func(dir string, guest int) []string { return append(type3(dir, guest), "-smp", "2") },
	Setup: cxlDrivers + `
cxl create-region -m -d decoder0.0 -w 1 -t pmem mem0
` + cxlNamespace,
}

// cxlDrivers has the kernel find a memory device.
var cxlDrivers = numa.Setup + `
modprobe 9pnet_virtio
mount -t 9p -o ro,trans=virtio,version=9p2000.L host /host
echo offline > /sys/devices/system/memory/auto_online_blocks
for m in cxl_acpi cxl_pci cxl_mem cxl_pmem cxl_port nd_pmem dax_pmem device_dax kmem; do modprobe $m; done
for i in $(seq 100); do [ -e /sys/bus/cxl/devices/mem0 ] && [ -e /sys/bus/cxl/devices/decoder0.0 ] && break; sleep 0.1; done
`

// cxlNamespace makes the device-dax of a region.
const cxlNamespace = `
for i in $(seq 100); do [ -e /sys/bus/nd/devices/region0 ] && break; sleep 0.1; done
ndctl create-namespace -f -m devdax --map=mem
for i in $(seq 100); do [ -c /dev/dax0.0 ] && break; sleep 0.1; done
[ -c /dev/dax0.0 ]
`

// type3 is a machine with a CXL memory device of type 3, whose memory is a file that guests have in common; its labels are each guest's own.
func type3(dir string, guest int) []string {
	return []string{"-M", "q35,cxl=on,cxl-fmw.0.targets.0=cxl.1,cxl-fmw.0.size=4G", "-m", "1024,slots=4,maxmem=5120M",
		"-object", "memory-backend-file,id=mem0,share=on,size=512M,mem-path=" + filepath.Join(dir, "files", "cxl0"),
		"-object", "memory-backend-file,id=lsa0,share=on,size=1M,mem-path=" + filepath.Join(dir, "files", fmt.Sprint("lsa", guest)),
		"-device", "pxb-cxl,bus_nr=12,bus=pcie.0,id=cxl.1",
		"-device", "cxl-rp,port=0,bus=cxl.1,id=rp0,chassis=0,slot=2",
		"-device", "cxl-rp,port=1,bus=cxl.1,id=rp1,chassis=0,slot=3",
		"-device", "cxl-type3,bus=rp0,memdev=mem0,lsa=lsa0,id=cxl-pmem0"}
}

// share is two machines, each with a CXL memory device, whose memory is the same. Both kernels write their notes on it, at its beginning; what is behind
// is for who shares it.
var share = &Preset{
	Name: "share", About: "two hosts with the same CXL memory of type 3, as dax0.0 of each, and a wire between them",
	Guests: 2, quirks: true, files: true,
	args: func(dir string, guest int) []string {
		return append(append(type3(dir, guest), "-smp", "1"), wired(dir, guest)...)
	},
	Setup: soft + cxl.Setup + "network eth0 10.99.0.$guest/24 fd99::$guest/64\n" + answered,
}

// interleave has two CXL memory devices, each behind a host bridge of its own, made one region: 8 KiB of the one, 8 KiB of the other. The kernel takes them in the order of the
// root decoder's targets only, and numbers them as it finds them.
var interleave = &Preset{
	Name: "interleave", About: "two CXL memory devices of type 3, interleaved by 8 KiB: dax0.0; their memory is the files /host/cxl0 and /host/cxl1",
	Guests: 1, quirks: true, files: true,
	args: func(dir string, _ int) []string {
		args := []string{"-M", "q35,cxl=on,cxl-fmw.0.targets.0=cxl.0,cxl-fmw.0.targets.1=cxl.1,cxl-fmw.0.size=4G,cxl-fmw.0.interleave-granularity=8k",
			"-m", "1024,slots=4,maxmem=5120M", "-smp", "2"}
		file := func(id string, mib int) []string {
			return []string{"-object", fmt.Sprintf("memory-backend-file,id=%s,share=on,size=%dM,mem-path=%s", id, mib, filepath.Join(dir, "files", id))}
		}
		for i := range 2 {
			args = append(append(args, file(fmt.Sprint("cxl", i), 256)...), file(fmt.Sprint("lsa", i), 1)...)
			args = append(args, "-device", fmt.Sprintf("pxb-cxl,bus_nr=%d,bus=pcie.0,id=cxl.%d", 12+100*i, i))
			for port := range 2 { // the second is empty: see cxl
				args = append(args, "-device", fmt.Sprintf("cxl-rp,port=%d,bus=cxl.%d,id=rp%d%d,chassis=%d,slot=%d", port, i, i, port, i, 2+port))
			}
			args = append(args, "-device", fmt.Sprintf("cxl-type3,bus=rp%d0,memdev=cxl%d,lsa=lsa%d,id=pmem%d", i, i, i, i))
		}
		return args
	},
	Setup: cxlDrivers + `
for i in $(seq 100); do [ -e /sys/bus/cxl/devices/mem1 ] && break; sleep 0.1; done
for m in mem0 mem1; do
  case $(readlink -f /sys/bus/cxl/devices/$m) in */pci0000:0c/*) first=$m ;; *) second=$m ;; esac
done
cxl create-region -m -d decoder0.0 -w 2 -g 8192 -t pmem $first $second
` + cxlNamespace,
}
