/** step (smallstep), unmodified from its Go module, against a real process. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildGoTool } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AcmeSite, OWN_ADDRESS, startAcmeSite } from './acme-site.ts';

const STEP = await buildGoTool(join(import.meta.dirname, 'step'));

let site: AcmeSite;
beforeAll(async () => {
  site = await startAcmeSite();
});
afterAll(() => site[Symbol.asyncDispose]());

describe('step', () => {
  /** A certificate for a name that leads to step's own server. */
  const obtain = async (name: string, ...options: readonly string[]) => {
    site.dns.set(name, 'A', [OWN_ADDRESS]);
    const files = [join(site.folder, `${name}.crt`), join(site.folder, `${name}.key`)];
    const listen = ['--standalone', '--http-listen', `${OWN_ADDRESS}:${site.httpPort}`];
    const server = ['--acme', site.directory(), '--root', site.caFile];
    await site.run(STEP, ['ca', 'certificate', name, ...files, ...server, ...listen, ...options]);
    const chain = await readFile(files[0] ?? '', 'utf8');
    return { names: await site.verify(chain), leaf: new X509Certificate(chain) };
  };

  test('proves a name by http-01 without asking for a validity', async () => {
    const { names } = await obtain('step.example.com', '--contact', 'mailto:admin@example.com');
    expect(names).toBe('DNS:step.example.com');
  });

  test('gets the validity that it requests', async () => {
    // Times of a client whose clock is slow.
    const validity = ['--not-before=-4m', '--not-after=48h'];
    const { names, leaf } = await obtain('timed.example.com', ...validity);
    expect(names).toBe('DNS:timed.example.com');
    const lengthMs = Date.parse(leaf.validTo) - Date.parse(leaf.validFrom);
    expect(lengthMs).toBe((48 * 60 + 4) * 60_000);
  });

  test('shows why a contact is refused', async () => {
    await expect(obtain('contact.example.com', '--contact', 'tel:+12025551212')).rejects.toThrow(
      'only mailto: contacts are supported',
    );
  });
});
