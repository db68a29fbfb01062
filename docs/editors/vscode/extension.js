// Starts barewire-gen lsp for schemas. All that the editor shows comes from there.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

exports.activate = async () => {
  const [command, ...args] = workspace.getConfiguration('bare').get('command');
  const folder = workspace.workspaceFolders && workspace.workspaceFolders[0];
  client = new LanguageClient(
    'bare',
    'BARE schemas',
    { command, args: [...args, 'lsp'], options: { cwd: folder && folder.uri.fsPath } },
    { documentSelector: [{ language: 'bare' }] },
  );
  await client.start();
};

exports.deactivate = () => client && client.stop();
