/** Revokes several certificates of the list, and shows before what that breaks. */
import { ApiProblem } from '../api/api-problem.ts';
import { useSecretList } from '../api/queries.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import type { Bulk, Verdict } from '../bulk/bulk.ts';
import { BulkButton } from '../bulk/bulk-button.tsx';
import { secretsCurl } from '../components/commands.tsx';
import { formatDistance } from '../components/format.ts';
import type { ListedCertificate } from './certificate.ts';
import { ReasonField } from './reason-field.tsx';

/** A certificate as it is listed, and what its contents say once they were read. */
export interface Revocable extends ListedCertificate {
  /** Whether it certifies an authority. */
  readonly isAuthority?: boolean;
}

/** Revocations without a typed name. */
const MAX_UNTYPED = 10;

export const nameOfCertificate = ({
  common_name: name,
  dns_names: names,
  serial,
}: ListedCertificate): string => name || names[0] || serial;

const judge =
  (issuers: ReadonlySet<string>, nowMs: number) =>
  (certificate: Revocable): Verdict => {
    const { serial, dns_names: names, not_after: notAfter } = certificate;
    if (certificate.revoked) return { kind: 'stays', words: `${serial} is revoked already.` };
    if (Date.parse(notAfter) < nowMs)
      return { kind: 'stays', words: `${serial} has expired, which nobody accepts either.` };
    if (issuers.has(serial))
      return {
        kind: 'refused',
        words: `${serial} is an issuer of this authority, which a revocation would not reach: it is stopped among the issuers.`,
      };
    const of = names.length === 0 ? '' : ` It is for ${names.join(', ')}.`;
    const broken =
      certificate.isAuthority === true
        ? ' It certifies an authority: everything below it breaks with it.'
        : '';
    return {
      kind: 'changes',
      words: `${serial} would expire ${formatDistance(notAfter, nowMs)}.${of}${broken}`,
    };
  };

/** Reads a certificate again: somebody else may have revoked it. @throws {ApiProblem} if it is gone */
const readAgain = async (
  mount: string,
  listed: Revocable,
  signal: AbortSignal,
): Promise<Revocable> => {
  const found = await readData<{ certificate: string; revocation_time?: number }>(
    `${mount}/cert/${listed.serial}`,
    { signal },
  );
  if (found === undefined) throw new ApiProblem(404, 'It does not exist any more.');
  const { isAuthority } = await import('./certificate-contents.ts');
  return {
    ...listed,
    revoked: (found.revocation_time ?? 0) > 0,
    isAuthority: isAuthority(found.certificate),
  };
};

export const BulkRevocation = (props: {
  mount: string;
  nowMs: number;
  chosen: ReadonlyMap<string, Revocable>;
  /** Called with the certificates that stay selected, because they were to be revoked and were not. */
  onEnd: (left: ReadonlyMap<string, Revocable>) => void;
}) => {
  const { mount, nowMs, chosen, onEnd } = props;
  const { data: issuers } = useSecretList<{ readonly serial_number: string }>(`${mount}/issuers`);
  const serials = new Set(Object.values(issuers?.infos ?? {}).map((info) => info.serial_number));
  const path = `${mount}/revoke`;
  const bodyOf = (serial: string, reason: string): object => ({ serial_number: serial, reason });
  const bulk: Bulk<Revocable> = {
    label: 'Revoke',
    tone: 'danger',
    noun: 'certificate',
    idOf: ({ serial }) => serial,
    nameOf: nameOfCertificate,
    read: (certificate, signal) => readAgain(mount, certificate, signal),
    judge: judge(serials, nowMs),
    change: ({ serial }, { text }) =>
      callSecrets('POST', path, { body: bodyOf(serial, text('reason')) }),
    commands: ({ serial }, { text }) => [secretsCurl('POST', path, bodyOf(serial, text('reason')))],
    children: (
      <>
        <p>
          They are put on the revocation list and OCSP says so. Clients that ask refuse them from
          then on: whatever uses them has to have others before. It cannot be taken back.
        </p>
        <ReasonField />
      </>
    ),
    typed: (changed) =>
      changed.length > MAX_UNTYPED || changed.some(({ isAuthority }) => isAuthority === true)
        ? mount
        : undefined,
  };
  return (
    <BulkButton
      bulk={bulk}
      things={[...chosen.values()]}
      onEnd={(left) => onEnd(new Map(left.map((one) => [one.serial, one])))}
    />
  );
};
