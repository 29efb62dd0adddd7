/**
 * Builds the programs in Go that tests use, one after the other, so that the tests find them in Go's cache. The
 * suite runs it from its beginning; a test that comes first waits for its program.
 */
import { join } from 'node:path';
import { buildGoTool, findGoModule } from '@keelson/testkit';
import { buildTofu } from './tofu/tofu-program.ts';
import { buildVault } from './vault-cli/vault-program.ts';

const ROOT = join(import.meta.dirname, '..');

const TOOLS = ['libs/testkit/src/versitygw', 'conformance/acme/step', 'conformance/acme/caddy'];
for (const folder of TOOLS) await buildGoTool(join(ROOT, folder));
await buildGoTool(join(ROOT, 'conformance/tfe-provider'), 'terraform-provider-tfe');
await buildGoTool(join(ROOT, 'conformance/vault-provider'), 'terraform-provider-vault');

await buildVault();
await buildTofu();

/** Client libraries, whose tests are compiled. */
const MODULES = ['conformance/go-tfe', 'conformance/vault-api', 'conformance/cert-manager'];
for (const folder of MODULES) await (await findGoModule(join(ROOT, folder))).compile();

// Loading this module builds Gitea.
await import('./vcs/gitea-server.ts');
