// Stands in for syft and for grype, by the name that it is called by: a static program in Go, as they are, with threads, a
// temporary directory, and no other program. It knows one kind of package, a line NAME==VERSION in a requirements.txt.
//
// syft scan SOURCE: a bill of materials in CycloneDX. grype [SOURCE]: what the database says about a bill on stdin or in a
// file, or about any other source. A source is a directory, a file or an image (docker-archive, oci-archive, oci-dir);
// without a scheme it is what it looks like.
package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
)

type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Purl    string `json:"purl"`
	Place   string `json:"-"`
}

type bill struct {
	BomFormat   string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Components  []component `json:"components"`
}

func fail(format string, words ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", words...)
	os.Exit(1)
}

func must(err error) {
	if err != nil {
		fail("failed: %v", err)
	}
}

func packages(from io.Reader, place string) (found []component) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		name, version, ok := strings.Cut(strings.TrimSpace(lines.Text()), "==")
		if ok {
			found = append(found, component{"library", name, version, "pkg:pypi/" + name + "@" + version, place})
		}
	}
	return found
}

// Each file in a goroutine of its own, which becomes threads.
func ofDirectory(top string) (found []component) {
	var group sync.WaitGroup
	var lock sync.Mutex
	must(filepath.Walk(top, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() || filepath.Base(path) != "requirements.txt" {
			return err
		}
		group.Add(1)
		go func() {
			defer group.Done()
			file, err := os.Open(path)
			must(err)
			defer file.Close()
			place, _ := filepath.Rel(top, path)
			mine := packages(file, place)
			lock.Lock()
			found = append(found, mine...)
			lock.Unlock()
		}()
		return nil
	}))
	group.Wait()
	return found
}

// Unpacks an archive into a directory.
func unpack(archive io.Reader, into string) {
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if err == io.EOF {
			return
		}
		must(err)
		path := filepath.Join(into, filepath.Clean("/"+header.Name))
		if header.Typeflag != tar.TypeReg {
			continue
		}
		must(os.MkdirAll(filepath.Dir(path), 0o700))
		file, err := os.Create(path)
		must(err)
		_, err = io.Copy(file, reader)
		must(err)
		must(file.Close())
	}
}

func layers(top string) (paths []string) {
	var manifest []struct{ Layers []string }
	var index struct {
		Manifests []struct{ Digest string }
		Layers    []struct{ Digest string }
	}
	if text, err := os.ReadFile(filepath.Join(top, "manifest.json")); err == nil {
		must(json.Unmarshal(text, &manifest))
		for _, layer := range manifest[0].Layers {
			paths = append(paths, filepath.Join(top, layer))
		}
		return paths
	}
	blob := func(digest string) string { return filepath.Join(top, "blobs", strings.Replace(digest, ":", "/", 1)) }
	text, err := os.ReadFile(filepath.Join(top, "index.json"))
	must(err)
	must(json.Unmarshal(text, &index))
	text, err = os.ReadFile(blob(index.Manifests[0].Digest))
	must(err)
	must(json.Unmarshal(text, &index))
	for _, layer := range index.Layers {
		paths = append(paths, blob(layer.Digest))
	}
	return paths
}

func ofImage(top string) (found []component) {
	temporary, err := os.MkdirTemp("", "stereoscope-")
	must(err)
	defer os.RemoveAll(temporary)
	for _, path := range layers(top) {
		file, err := os.Open(path)
		must(err)
		unpack(file, temporary)
		must(file.Close())
	}
	return ofDirectory(temporary)
}

func ofArchive(path string) []component {
	temporary, err := os.MkdirTemp("", "stereoscope-")
	must(err)
	defer os.RemoveAll(temporary)
	file, err := os.Open(path)
	must(err)
	unpack(file, temporary)
	must(file.Close())
	return ofImage(temporary)
}

func ofBill(text []byte) []component {
	var read bill
	must(json.Unmarshal(text, &read))
	return read.Components
}

func ofFile(path string) []component {
	text, err := os.ReadFile(path)
	must(err)
	if json.Valid(text) {
		return ofBill(text)
	}
	return packages(bytes.NewReader(text), path)
}

func ofSource(source string) []component {
	scheme, rest, ok := strings.Cut(source, ":")
	known := map[string]func(string) []component{"dir": ofDirectory, "file": ofFile, "sbom": ofFile, "oci-dir": ofImage,
		"docker-archive": ofArchive, "oci-archive": ofArchive}
	if read := known[scheme]; ok && read != nil {
		return read(rest)
	}
	if info, err := os.Stat(source); err == nil && info.IsDir() {
		return ofDirectory(source)
	}
	return ofFile(source)
}

func operands() (words []string) {
	for _, word := range os.Args[1:] {
		if !strings.HasPrefix(word, "-") {
			words = append(words, word)
		}
	}
	return words
}

func syft() any {
	words := operands()
	if len(words) != 2 || words[0] != "scan" {
		fail("a source is required")
	}
	found := ofSource(words[1])
	sort.Slice(found, func(i, j int) bool { return found[i].Purl < found[j].Purl })
	return bill{"CycloneDX", "1.5", found}
}

// The database is a line NAME VERSION ID SEVERITY for each vulnerability.
func grype() any {
	var found []component
	if words := operands(); len(words) > 0 {
		found = ofSource(words[0])
	} else {
		text, err := io.ReadAll(os.Stdin)
		must(err)
		found = ofBill(text)
	}
	database, err := os.Open(filepath.Join(os.Getenv("GRYPE_DB_CACHE_DIR"), "6", "vulnerability.db"))
	if err != nil {
		fail("failed to load vulnerability db: %v", err)
	}
	matches := []any{}
	for lines := bufio.NewScanner(database); lines.Scan(); {
		words := strings.Fields(lines.Text())
		for _, one := range found {
			if one.Name == words[0] && one.Version == words[1] {
				matches = append(matches, map[string]any{
					"vulnerability": map[string]any{"id": words[2], "severity": words[3], "fix": map[string]any{"versions": []string{}, "state": "unknown"}},
					"artifact":      map[string]any{"name": one.Name, "version": one.Version, "type": "python", "purl": one.Purl, "locations": []any{}}})
			}
		}
	}
	return map[string]any{"matches": matches, "descriptor": map[string]any{"name": "grype", "version": "0.79.0"}}
}

func main() {
	tool := filepath.Base(os.Args[0])
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println(tool, "0.0.0")
		return
	}
	for _, name := range []string{"." + tool + ".yaml", filepath.Join(os.Getenv("HOME"), "."+tool+".yaml")} {
		_, _ = os.ReadFile(name)
	}
	var document any
	if tool == "syft" {
		document = syft()
	} else {
		document = grype()
	}
	must(json.NewEncoder(os.Stdout).Encode(document))
}
