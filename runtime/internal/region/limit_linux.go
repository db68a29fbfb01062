package region

import "golang.org/x/sys/unix"

// machineMemory is the bytes that the machine has, with what it can swap out; zero
// where that is not known. Source: sysinfo(2).
func machineMemory() uint64 {
	var si unix.Sysinfo_t
	if err := unix.Sysinfo(&si); err != nil {
		return 0
	}
	return (uint64(si.Totalram) + uint64(si.Totalswap)) * uint64(si.Unit)
}
