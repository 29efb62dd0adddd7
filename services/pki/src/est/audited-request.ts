/** The part of an enrolment request that is audited: its body is base64, which nobody could read later. */
import { type CsrFields, encodePem, keyBits } from '@keelson/x509';
import { describePublicKey } from '../issuers/domain/public-key.ts';
import { namesOfCsr } from '../issuing/domain/csr-names.ts';
import type { AuditField } from './domain/est-config.ts';

/** Read by the gateway, which audits it and never sends it to a client. */
const AUDITED_REQUEST_HEADER = 'x-audited-request';

/** The header that carries the chosen fields, JSON in base64. */
export const auditedRequest = (
  fields: readonly AuditField[],
  csr: CsrFields,
  der: Uint8Array,
): Readonly<Record<string, string>> => {
  const names = namesOfCsr(csr);
  const key = describePublicKey(csr.publicKeyDer);
  const known: Readonly<Record<AuditField, unknown>> = {
    csr: encodePem('CERTIFICATE REQUEST', der),
    common_name: names.commonName,
    alt_names: [...names.dns, ...names.emails],
    ip_sans: names.ips,
    uri_sans: names.uris,
    other_sans: names.others.map(({ oid, value }) => `${oid};UTF8:${value}`),
    serial_number: names.serialNumber,
    key_type: key.type,
    key_bits: keyBits(key),
  };
  const chosen = Object.fromEntries(fields.map((name) => [name, known[name]]));
  return {
    [AUDITED_REQUEST_HEADER]: Buffer.from(JSON.stringify(chosen)).toString('base64'),
  };
};
