package diag

// longest is how many bytes a word may have for its slips to be counted: nobody
// misspells more, and the time is the product of both lengths.
const longest = 100

// Slips counts the letters to change, insert, drop or swap with their neighbour to
// get from a to b (optimal string alignment; the case of letters counts). Where that
// is certainly more than most, it may return most+1 instead: it serves to find the
// spelling that was meant, and what is far away was not.
func Slips(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most || len(a) > longest || len(b) > longest {
		return most + 1
	}
	var rows [3][longest + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
