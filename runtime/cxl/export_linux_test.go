package cxl

func init() { regularFiles = true }
