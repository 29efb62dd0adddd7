/** Caddy, unmodified from its Go module, against a real process: a web server that orders for itself. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { join } from 'node:path';
import { buildGoTool, ServerProcess } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeSite, OWN_ADDRESS, startAcmeSite } from './acme-site.ts';

const CADDY = await buildGoTool(join(import.meta.dirname, 'caddy'));

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite();
});
afterAll(() => site[Symbol.asyncDispose]());

/** The page as read by a client that trusts only the root. */
const read = async (name: string, port: number, ca: string): Promise<string> => {
  const request = get({ host: OWN_ADDRESS, port, servername: name, headers: { host: name }, ca });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return Buffer.concat(await response.toArray()).toString();
};

describe('Caddy', () => {
  /** The greeting of a Caddy that has its certificate. @param issuer lines about the ACME server */
  const greetingOf = async (name: string, issuer: readonly string[]): Promise<string> => {
    site.dns.set(name, 'A', [OWN_ADDRESS]);
    const config = join(site.folder, `${name}.caddyfile`);
    await writeFile(
      config,
      `{
  admin off
  persist_config off
  skip_install_trust
  storage file_system ${join(site.folder, name)}
  email admin@example.com
  default_bind ${OWN_ADDRESS}
  http_port ${site.httpPort}
  https_port ${site.tlsPort}
  servers {
    protocols h1 h2
  }
  log {
    level DEBUG
    include tls.cache
  }
}
${name} {
  tls {
    issuer acme {
      trusted_roots ${site.caFile}
      ${issuer.join('\n      ')}
    }
  }
  respond "good evening"
}
`,
    );
    const caddy = new ServerProcess({
      file: CADDY,
      args: ['run', '--config', config, '--adapter', 'caddyfile'],
      // Obtained, and served from here on.
      ready: /added certificate to cache/,
    });
    await caddy.start();
    try {
      return await read(name, site.tlsPort, await readFile(site.rootFile, 'utf8'));
    } finally {
      await caddy.stop();
    }
  };

  test('proves a name by http-01 and serves it', async () => {
    const issuer = [`dir ${site.directory()}`, 'disable_tlsalpn_challenge'];
    expect(await greetingOf('http.example.com', issuer)).toBe('good evening');
  });

  test('proves a name by tls-alpn-01, registered by an external account binding', async () => {
    const binding = await site.newBinding('roles/web/');
    const issuer = [
      `dir ${site.directory('roles/web/')}`,
      'disable_http_challenge',
      `eab ${binding?.kid} ${binding?.hmac}`,
    ];
    expect(await greetingOf('tls.example.com', issuer)).toBe('good evening');
  });
});
