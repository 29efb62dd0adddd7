/** The service with several mounts, and the steps that build authorities in them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { expect } from 'vitest';
import { aMount, openPki } from './open-pki.ts';

export const other = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000002', path: 'other/' });
export const third = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000003', path: 'third/' });
export const MERGE_PATCH = { contentType: 'application/merge-patch+json' };

export const leafRole = { allow_any_name: true, enforce_hostnames: false, key_type: 'ec' };

export const openMounts = async () => {
  const folder = await temporaryDirectory();
  const pki = await openPki(folder.path);

  const file = (name: string, content: string | Uint8Array): string => {
    const path = join(folder.path, name);
    writeFileSync(path, content);
    return path;
  };

  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

  const textOf = (pem: string): string =>
    openssl('x509', '-noout', '-text', '-in', file('shown.pem', pem));

  const verifies = (root: string, untrusted: readonly string[], leaf: string): boolean =>
    spawnSync('openssl', [
      'verify',
      '-x509_strict',
      '-CAfile',
      file('root.pem', root),
      ...(untrusted.length > 0 ? ['-untrusted', file('untrusted.pem', untrusted.join('\n'))] : []),
      file('leaf.pem', leaf),
    ]).status === 0;

  const post = async (path: string, body: unknown = {}, mount = pki.mount) => {
    const answer = await pki.call('POST', path, body, { mount });
    expect(answer.json?.errors).toBeUndefined();
    expect(answer.status).toBe(200);
    return answer;
  };

  const refusal = async (path: string, body: unknown, mount = pki.mount): Promise<string> => {
    const answer = await pki.call('POST', path, body, { mount });
    expect(answer.status).toBe(400);
    return answer.json.errors[0];
  };

  const root = async (name = 'Root', mount = pki.mount, body: object = {}) =>
    (
      await post(
        'root/generate/internal',
        { common_name: name, ttl: '87600h', key_type: 'ec', ...body },
        mount,
      )
    ).data;

  /** An intermediate in the other mount, signed by the default issuer of the first. */
  const intermediate = async (body: object = {}, request: object = {}) => {
    const { csr } = (
      await post(
        'intermediate/generate/internal',
        { common_name: 'Intermediate', key_type: 'ec', ...request },
        other,
      )
    ).data;
    const signed = await post('root/sign-intermediate', {
      csr,
      common_name: 'Intermediate',
      ttl: '43800h',
      ...body,
    });
    const imported = await post(
      'intermediate/set-signed',
      { certificate: signed.data.certificate },
      other,
    );
    return { signed, imported: imported.data, csr };
  };

  const leafOf = async (body: object = {}, mount = other) => {
    await post('roles/leaf', leafRole, mount);
    return post('issue/leaf', { common_name: 'leaf.example.com', ttl: '1h', ...body }, mount);
  };

  return {
    pki,
    file,
    openssl,
    textOf,
    verifies,
    post,
    refusal,
    root,
    intermediate,
    leafOf,
    close: async () => {
      await pki.close();
      await folder[Symbol.asyncDispose]();
    },
  };
};

export type Mounts = Awaited<ReturnType<typeof openMounts>>;

/**
 * A new request for a P-256 key, PEM.
 * @param subject as openssl takes it
 * @param extensions as openssl takes them
 */
export const newRequest = (
  mounts: Mounts,
  subject: string,
  extensions: readonly string[] = [],
): string =>
  mounts.openssl(
    'req',
    '-new',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    mounts.file('request.key', ''),
    '-subj',
    subject,
    ...extensions.flatMap((one) => ['-addext', one]),
  );
