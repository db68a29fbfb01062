-- What a person would do in Neovim, for TestNeovim: open a schema, look at what is wrong,
-- jump, rename, look at what hover says, mend, format, write. What was seen goes as JSON
-- into $SEEN.
local seen = {}
local long = 120000 -- milliseconds: other programs may hold us up

local function note()
  vim.fn.writefile({ vim.fn.json_encode(seen) }, vim.env.SEEN)
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, long) or {}
  for _, a in pairs(answers) do
    return a.result
  end
end

local ok, err = pcall(function()
  vim.cmd('edit ' .. vim.env.SCHEMA)
  seen.filetype = vim.bo.filetype
  vim.wait(long, function() return #vim.diagnostic.get(0) > 0 end, 20)
  seen.diagnostics = vim.tbl_map(function(d)
    return { line = d.lnum, column = d.col, message = d.message, severity = d.severity, source = d.source }
  end, vim.diagnostic.get(0))

  -- From a use of a type to its declaration.
  vim.api.nvim_win_set_cursor(0, { 3, 8 })
  vim.lsp.buf.definition()
  vim.wait(long, function() return vim.api.nvim_win_get_cursor(0)[1] == 6 end, 20)
  seen.cursor = vim.api.nvim_win_get_cursor(0)

  local h = ask('textDocument/hover', vim.lsp.util.make_position_params())
  seen.hover = h and h.contents.value or ''

  vim.lsp.buf.rename('Level')
  vim.wait(long, function() return vim.api.nvim_buf_get_lines(0, 5, 6, false)[1]:match('Level') ~= nil end, 20)
  seen.renamed = vim.api.nvim_buf_get_lines(0, 0, -1, false)

  -- Typing takes the mistake away, and the diagnostic with it.
  vim.api.nvim_buf_set_text(0, 3, 10, 3, 17, { 'u16' })
  vim.wait(long, function() return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) == 0 end, 20)
  seen.errors = #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR })

  if vim.lsp.buf.format then
    vim.lsp.buf.format({ timeout_ms = long })
  else
    vim.lsp.buf.formatting_sync({}, long)
  end
  seen.formatted = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.cmd('write')
end)
if not ok then
  seen.failed = tostring(err)
end
note()
vim.cmd('qall!')
