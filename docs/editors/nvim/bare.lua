-- Schemas in Neovim, 0.7 or later: put this file into ~/.config/nvim/plugin/.
-- BAREWIRE_GEN names the command where it is not on the path; it may have arguments, as
-- in "go tool barewire-gen".
local cmd = vim.split(vim.env.BAREWIRE_GEN or 'barewire-gen', ' ')
table.insert(cmd, 'lsp')

local clients = {} -- by root, where Neovim does not remember them itself

local function start(buffer)
  local dir = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ':p:h')
  local config = { name = 'barewire-gen', cmd = cmd, root_dir = dir }
  if vim.lsp.start then
    vim.lsp.start(config, { bufnr = buffer })
    return
  end
  clients[dir] = clients[dir] or vim.lsp.start_client(config)
  if clients[dir] then
    vim.lsp.buf_attach_client(buffer, clients[dir])
  end
end

local group = vim.api.nvim_create_augroup('bare', {})
vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
  group = group,
  pattern = '*.bare',
  callback = function() vim.bo.filetype = 'bare' end,
})
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = 'bare',
  callback = function(event)
    vim.bo.commentstring = '# %s'
    vim.bo.expandtab = true
    vim.bo.shiftwidth = 2
    start(event.buf)
  end,
})
