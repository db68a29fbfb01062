package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// most is how much more than an empty analyzer ours may take, cold.
const most = 1.15

// cold vets packages with both tools in turn, nothing of it in the cache but what the compiler made. Then it vets them again.
func (b bench) cold(runs int, patterns []string) error {
	costs := map[string][]cost{}
	var warm []cost
	if _, err := b.vet(b.tools[empty], nil, patterns...); err != nil { // so that the compiler's part is there
		return err
	}
	for range runs {
		for _, name := range []string{empty, ours} {
			// Another comment at the end of a tool makes it another tool, of which nothing is in the cache.
			tool, err := b.renewed(name)
			if err != nil {
				return err
			}
			c, err := b.vet(tool, nil, patterns...)
			if err != nil {
				return err
			}
			costs[name] = append(costs[name], c)
			if name == ours {
				if c, err = b.vet(tool, nil, patterns...); err != nil {
					return err
				}
				warm = append(warm, c)
			}
		}
	}
	e, o, w := median(costs[empty]), median(costs[ours]), median(warm)
	ratio := o.cpu.Seconds() / e.cpu.Seconds()
	met := "met"
	if ratio > most {
		met = "not met"
	}
	fmt.Printf("go vet %v, cold: %s %.1f s, %s %.1f s: %.2f times (wanted: at most %.2f, %s); largest process %d MiB\n",
		patterns, empty, e.cpu.Seconds(), ours, o.cpu.Seconds(), ratio, most, met, o.peak>>20)
	fmt.Printf("the same again, from the cache: %v\n", w.cpu.Round(10*time.Millisecond))
	return nil
}

// renewed is a copy of a tool with something behind it: the go command knows tools by what is in them.
func (b bench) renewed(name string) (string, error) {
	text, err := os.ReadFile(b.tools[name])
	if err != nil {
		return "", err
	}
	path := filepath.Join(b.dir, "renewed")
	os.Remove(path)
	text = fmt.Appendf(text, "\n%d\n", time.Now().UnixNano())
	return path, os.WriteFile(path, text, 0o755)
}
