// Telemetry writes a message, reads it back in three ways, and shows what
// happens to a damaged one.
package main

//go:generate go tool barewire-gen generate telemetry.bare

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "telemetry:", err)
		os.Exit(1)
	}
}

func run(w io.Writer) error {
	message, err := write(w)
	if err != nil {
		return err
	}
	if err := decode(w, message); err != nil {
		return err
	}
	if err := readInPlace(w, message); err != nil {
		return err
	}
	if err := overMemory(w); err != nil {
		return err
	}
	damaged(w, message)
	return nil
}

func write(w io.Writer) ([]byte, error) {
	report := Report{
		Station: "Zugspitze",
		Cause:   ReportCause{Value: &Manual{Operator: "Ada"}},
		Samples: []Sample{
			{Seq: 1, Time: 1_764_000_000_000_000_000, Celsius: -4.5, Sensor: 7, Quality: QualityGood},
			{Seq: 2, Time: 1_764_000_060_000_000_000, Celsius: -4.25, Sensor: 7, Quality: QualityEstimated},
		},
		Remarks: map[string]string{"wind": "gusty", "sky": "clear"},
	}
	message, err := report.MarshalBinary()
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "A report of %d samples is %d bytes of BARE:\n\n%s\n", len(report.Samples), len(message), hex.Dump(message))
	return message, nil
}

func decode(w io.Writer, message []byte) error {
	var report Report
	if err := report.UnmarshalBinary(message); err != nil {
		return err
	}
	switch cause := report.Cause.Value.(type) {
	case *Manual:
		fmt.Fprintf(w, "Decoded:        %s, asked for by %s\n", report.Station, cause.Operator)
	case *Scheduled:
		fmt.Fprintf(w, "Decoded:        %s, every %d s\n", report.Station, cause.Every)
	}
	return nil
}

// readInPlace checks the message once and then reads fields where they lie.
func readInPlace(w io.Writer, message []byte) error {
	var index wire.Index // reusable: its memory is kept from message to message
	report, err := ReportViewOf(message, &index)
	if err != nil {
		return err
	}
	samples := report.Samples()
	last := samples.At(samples.Len() - 1)
	fmt.Fprintf(w, "Read in place:  sample %d, %.2f °C, %s\n", last.Seq(), last.Celsius(), last.Quality())
	return nil
}

// overMemory uses a block of memory as samples: no decoding, no copy.
func overMemory(w io.Writer) error {
	block := make([]byte, 4*SampleBinarySize)
	samples, err := SampleSliceOver(block)
	if err != nil {
		return err
	}
	for i := range samples {
		samples[i] = Sample{Seq: uint64(i + 1), Celsius: 20 + float64(i)/2}
	}
	view, err := SampleViewOf(block[2*SampleBinarySize:])
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Over memory:    %d samples in %d bytes; the third says %.1f °C\n", len(samples), len(block), view.Celsius())
	return nil
}

func damaged(w io.Writer, message []byte) {
	var report Report
	err := report.UnmarshalBinary(message[:len(message)-40])
	fmt.Fprintf(w, "Cut short:      %v\n", err)
}
