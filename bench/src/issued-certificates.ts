import { X509Certificate } from 'node:crypto';
import { askV1, type MeasuredServer } from './measured-server.ts';

const CALLERS = 64;

export interface IssuedCertificates {
  /** The root of the mount. */
  readonly issuer: X509Certificate;
  /** As the API writes them: hexadecimal with colons. */
  readonly serials: readonly string[];
}

/**
 * Creates a mount with a P-256 root and issues certificates from it.
 * @param options.revokedEvery one certificate in so many is revoked; none if absent
 */
export const issueCertificates = async (
  server: MeasuredServer,
  mount: string,
  options: { readonly count: number; readonly revokedEvery?: number },
): Promise<IssuedCertificates> => {
  await askV1(server, 'POST', `sys/mounts/${mount}`, {
    type: 'pki',
    config: { max_lease_ttl: '87600h' },
  });
  await askV1(server, 'POST', `${mount}/root/generate/internal`, {
    common_name: 'Bench Root',
    ttl: '87600h',
    key_type: 'ec',
  });
  await askV1(server, 'POST', `${mount}/config/crl`, { auto_rebuild: true });
  await askV1(server, 'POST', `${mount}/roles/bench`, { allow_any_name: true, key_type: 'ec' });
  const issuer = new X509Certificate(await (await askV1(server, 'GET', `${mount}/ca/pem`)).text());
  const { count, revokedEvery = Number.POSITIVE_INFINITY } = options;
  const serials: string[] = [];
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < count) {
      const turn = begun++;
      const answer = await askV1(server, 'POST', `${mount}/issue/bench`, {
        common_name: 'a.example.com',
        ttl: '24h',
      });
      const { data } = (await answer.json()) as { data: { serial_number: string } };
      const { serial_number } = data;
      serials.push(serial_number);
      if (turn % revokedEvery === 0)
        await askV1(server, 'POST', `${mount}/revoke`, { serial_number });
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return { issuer, serials };
};
