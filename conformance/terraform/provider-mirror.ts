/** A folder from which the tool installs providers instead of from a registry. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROVIDER = fileURLToPath(new URL('./file-provider.ts', import.meta.url));
const SOURCE = 'keelson.example/test/files';
const VERSION = '1.0.0';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** For the tool, or for an agent that runs it: the provider speaks without TLS. */
export const PROVIDER_ENVIRONMENT = { TF_DISABLE_PLUGIN_TLS: '1' };

/**
 * Creates the mirror in `folder`.
 * @returns a CLI configuration file of the tool that names it
 */
export const makeProviderMirror = async (folder: string): Promise<string> => {
  const platform = `${process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;
  const place = join(folder, SOURCE, VERSION, platform);
  await mkdir(place, { recursive: true });
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', PROVIDER];
  // The tool starts the provider several times for a command, and an agent starts the tool without this variable.
  const cache = process.env['NODE_COMPILE_CACHE'];
  const compiled = cache === undefined ? '' : `export NODE_COMPILE_CACHE='${cache}'\n`;
  await writeFile(
    join(place, `terraform-provider-files_v${VERSION}`),
    `#!/bin/sh\n${compiled}exec ${command.map((part) => `'${part}'`).join(' ')}\n`,
    { mode: 0o755 },
  );
  const configFile = join(folder, 'providers.tfrc');
  await writeFile(
    configFile,
    `provider_installation {\n  filesystem_mirror {\n    path = "${folder}"\n  }\n}\n`,
  );
  return configFile;
};

/** A file with a content, which a test may change behind the tool's back. */
export const fileConfiguration = (path: string, content: string): string => `
terraform {
  required_providers {
    files = { source = "${SOURCE}" }
  }
}
resource "files_file" "one" {
  path    = "${path}"
  content = "${content}"
}
`;
