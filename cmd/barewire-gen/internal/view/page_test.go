package view

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func every(string) bool { return true }

// schemas are all of the corpus and the examples that compile by themselves.
func schemas(t *testing.T, visit func(path string, s *schema.Schema)) {
	t.Helper()
	n := 0
	for _, dir := range []string{"../../../../testdata/corpus", "../../../../examples"} {
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".bare" {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if s, _ := schema.Compile([]*source.File{source.NewFile(filepath.Base(path), text)}, schema.Options{}); s != nil {
				n++
				visit(path, s)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 80 {
		t.Errorf("only %d schemas", n)
	}
}

// wellFormed reads all of an XML document.
func wellFormed(b []byte) error {
	d := xml.NewDecoder(bytes.NewReader(b))
	d.Strict = true
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// loads finds what makes a browser ask for another file. Links are followed by people only.
var loads = regexp.MustCompile(`(?i)<script|<link|<img|<iframe|@import|\ssrc=|url\((?:"|')?[^#]|xlink:href`)

// TestPagesOfTheCorpus draws every schema: pictures are well-formed, pages need nothing from elsewhere, and links
// within them lead somewhere.
func TestPagesOfTheCorpus(t *testing.T) {
	href, id := regexp.MustCompile(`href="#([^"]+)"`), regexp.MustCompile(`id="([^"]+)"`)
	schemas(t, func(path string, s *schema.Schema) {
		types := Types(s, every)
		svg := SVG(types)
		if err := wellFormed(svg); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		page, err := HTML(s, types, PageOptions{Doc: true, Findings: schema.Lint(s)})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{svg, page} {
			if what := loads.Find(b); what != nil {
				t.Errorf("%s: loads something: %s", path, what)
			}
		}
		ids := map[string]bool{}
		for _, m := range id.FindAllSubmatch(page, -1) {
			ids[string(m[1])] = true
		}
		for _, m := range href.FindAllSubmatch(page, -1) {
			if !ids[string(m[1])] {
				t.Errorf("%s: a link to #%s leads nowhere", path, m[1])
			}
		}
		for _, typ := range types {
			if !bytes.Contains(page, []byte(">"+typ.Name+"</h2>")) {
				t.Errorf("%s: %s is not on the page", path, typ.Name)
			}
		}
		Markdown(s, types, PageOptions{Doc: true})
		DiffText(Diff(types, types), Page)
		CacheLineText(types, Page)
		Overview(types, Page)
	})
}

// TestEscaped writes what a comment may have, and it stays text.
func TestEscaped(t *testing.T) {
	text := "# <script>alert(1)</script> & \"quotes\"\ntype T struct {\n  a: u64 # <b>bold</b> | `code` _x_\n}\n"
	s, list := schema.Compile([]*source.File{source.NewFile("<i>.bare", []byte(text))}, schema.Options{})
	if s == nil {
		t.Fatal(list)
	}
	page, err := HTML(s, Types(s, every), PageOptions{Doc: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<b>", "<i>"} {
		if bytes.Contains(page, []byte(bad)) {
			t.Errorf("%s stands in the page", bad)
		}
	}
	if !bytes.Contains(page, []byte("&lt;script&gt;")) {
		t.Error("the comment is not there")
	}
	md := string(Markdown(s, Types(s, every), PageOptions{Doc: true}))
	if !strings.Contains(md, "\\<b\\>bold\\</b\\> \\| `code` \\_x\\_") {
		t.Error(md)
	}
}

// TestMarkdownPlain has backticks that do not mean code, and what would begin a heading.
func TestMarkdownPlain(t *testing.T) {
	for text, want := range map[string]string{
		"a ` b <i>":             "a \\` b \\<i\\>",
		"```":                   "\\`\\`\\`",
		"`` ` ``<img src=x>` y": "\\`\\` \\` \\`\\`\\<img src=x\\>\\` y",
		"`<i>` <i>":             "`<i>` \\<i\\>",
	} {
		if got := plain(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
	var b bytes.Buffer
	paragraphs(&b, []string{"# no heading"})
	if got := b.String(); got != "\n\\# no heading\n" {
		t.Errorf("%q", got)
	}
	text := "# d\ntype T struct {\n  a: u64\n}\n"
	s, list := schema.Compile([]*source.File{source.NewFile("<i>.bare", []byte(text))}, schema.Options{})
	if s == nil {
		t.Fatal(list)
	}
	if md := Markdown(s, Types(s, every), PageOptions{Doc: true}); bytes.Contains(md, []byte(" <i>")) {
		t.Errorf("the file's name is markup:\n%s", md)
	}
}

// TestHugeLines lists the lines of a struct that has many, in no long time.
func TestHugeLines(t *testing.T) {
	var b strings.Builder
	b.WriteString("type T struct {\n")
	for i := range 20000 {
		b.WriteString("f" + string(rune('a'+i%26)) + strings.Repeat("x", i/26%50) + string(rune('a'+i/1300)) + ": data[64]\n")
	}
	b.WriteString("last: data[100000000]\n}\n")
	s, list := schema.Compile([]*source.File{source.NewFile("x.bare", []byte(b.String()))}, schema.Options{})
	if s == nil {
		t.Fatal(list)
	}
	if lines := Types(s, every)[0].CacheLines(); len(lines) < 4000 || len(lines) > 20010 {
		t.Errorf("%d lines", len(lines))
	}
}

// TestBrowser opens a page in a browser without a screen, on a light and on a dark one, and looks at what it shows: the
// background, and that fields are drawn in their colors.
func TestBrowser(t *testing.T) {
	browser, file := browserAndPage(t)
	for _, c := range []struct {
		name, setting    string
		background, text color.RGBA
		fields           []color.RGBA
	}{
		{"light", "1", color.RGBA{0xff, 0xff, 0xff, 0xff}, color.RGBA{0x1f, 0x23, 0x28, 0xff}, []color.RGBA{{0xdd, 0xf4, 0xff, 0xff}, {0xff, 0xf8, 0xc5, 0xff}, {0xda, 0xfb, 0xe1, 0xff}}},
		{"dark", "0", color.RGBA{0x0d, 0x11, 0x17, 0xff}, color.RGBA{0xe6, 0xed, 0xf3, 0xff}, []color.RGBA{{0x0c, 0x2d, 0x6b, 0xff}, {0x4b, 0x29, 0x00, 0xff}, {0x03, 0x3a, 0x16, 0xff}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := colors(shot(t, browser, file, c.setting, "1000,1400"))
			if n := count[c.background]; n < 500_000 {
				t.Errorf("%d dots of the background", n)
			}
			if n := count[c.text]; n < 300 {
				t.Errorf("%d dots of text", n)
			}
			for _, f := range c.fields {
				if n := count[f]; n < 1000 {
					t.Errorf("%d dots of the color %v", n, f)
				}
			}
		})
	}
}

// browserAndPage is the browser, and the file of a page.
func browserAndPage(t *testing.T) (browser, file string) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium here; make deps installs it")
		}
		t.Skip("no chromium here; make deps installs it")
	}
	text, err := os.ReadFile("../../../../examples/kvcache/kvcache.bare")
	if err != nil {
		t.Fatal(err)
	}
	s, list := schema.Compile([]*source.File{source.NewFile("kvcache.bare", text)}, schema.Options{})
	if s == nil {
		t.Fatal(list)
	}
	page, err := HTML(s, Types(s, every), PageOptions{Doc: true, Findings: schema.Lint(s)})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, page, 0o666); err != nil {
		t.Fatal(err)
	}
	return browser, file
}

// TestNarrow opens a page in the narrowest window that the browser has, 500 dots: nothing stands in its right margin, so
// that nobody scrolls to read on.
func TestNarrow(t *testing.T) {
	browser, file := browserAndPage(t)
	img := shot(t, browser, file, "0", "500,1400")
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Max.X - 12; x < b.Max.X; x++ {
			if c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA); c != (color.RGBA{0x0d, 0x11, 0x17, 0xff}) {
				t.Fatalf("at %d, %d is %v, and no background", x, y, c)
			}
		}
	}
}

// shot is what the browser shows of a page. It has no network to ask.
func shot(t *testing.T, browser, file, scheme, window string) image.Image {
	t.Helper()
	out := filepath.Join(t.TempDir(), "shot.png")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1",
		"--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+t.TempDir(),
		"--blink-settings=preferredColorScheme="+scheme, "--window-size="+window, "--screenshot="+out, "file://"+file)
	cmd.WaitDelay = 10 * time.Second
	if log, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	img, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func colors(img image.Image) map[color.RGBA]int {
	count := map[color.RGBA]int{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	return count
}
