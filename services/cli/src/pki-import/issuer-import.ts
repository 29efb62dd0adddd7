/** Imports the issuers of a mount: certificates from the source, private keys from files. */
import type { Document } from '../client/api-client.ts';
import { attempt } from '../importing/attempts.ts';
import type { PkiImportContext } from './pki-import-context.ts';

/** Settings of an issuer that have the same names in other products. */
const SETTINGS = [
  'issuer_name',
  'leaf_not_after_behavior',
  'usage',
  'revocation_signature_algorithm',
  'issuing_certificates',
  'crl_distribution_points',
  'delta_crl_distribution_points',
  'ocsp_servers',
  'enable_aia_url_templating',
];

/** Ids of issuers here, by the id of the same issuer at the source. */
export type IssuerIds = ReadonlyMap<string, string>;

const isSet = (value: unknown): boolean =>
  value !== undefined &&
  value !== '' &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

const toPem = (text: string): string => text.trim();

const listIssuers = async ({
  target,
  to,
}: PkiImportContext): Promise<ReadonlyMap<string, Document>> => {
  const found = new Map<string, Document>();
  for (const id of await target.list(`${to}/issuers`)) {
    const issuer = await target.find(`${to}/issuer/${id}`);
    if (issuer !== undefined) found.set(toPem(issuer.certificate), issuer);
  }
  return found;
};

/** The settings to which the source gives a value; all others keep their defaults. */
const toSettings = (issuer: Document): object =>
  Object.fromEntries(
    SETTINGS.filter((name) => isSet(issuer[name])).map((name) => [name, issuer[name]]),
  );

/**
 * An existing issuer is imported again if it is incomplete: without its key, or without its name, which is set
 * last.
 * @returns the issuer here; undefined in a dry run
 */
const importIssuer = async (
  context: PkiImportContext,
  issuer: Document,
  there: Document,
): Promise<Document> => {
  const { target, to, report, isDryRun, keys } = context;
  const lacksKey = there?.key_id === '' && keys !== '';
  const lacksName = there?.issuer_name === '' && issuer.issuer_name !== '';
  if (isDryRun || (there !== undefined && !lacksKey && !lacksName)) {
    if (there === undefined) report.countTakenOver('issuers');
    else report.countAlreadyThere('issuers');
    return there;
  }
  // Keys of other issuers in the same file are imported too, once.
  const pem_bundle = `${toPem(issuer.certificate)}\n${keys}`;
  const path = keys === '' ? 'issuers/import/cert' : 'issuers/import/bundle';
  const { data } = await target.send('POST', `${to}/${path}`, { pem_bundle });
  const id = [...(data.imported_issuers ?? []), ...(data.existing_issuers ?? [])][0];
  if (there === undefined || lacksName) {
    await target.send('PATCH', `${to}/issuer/${id}`, toSettings(issuer));
    if (issuer.revoked === true) await target.send('POST', `${to}/issuer/${id}/revoke`);
  }
  const imported = await target.find(`${to}/issuer/${id}`);
  if (there === undefined || lacksName || imported.key_id !== '') report.countTakenOver('issuers');
  else report.countAlreadyThere('issuers');
  return imported;
};

export const importIssuers = async (context: PkiImportContext): Promise<IssuerIds> => {
  const { source, target, from, to, report, isMountThere } = context;
  const there = isMountThere ? await listIssuers(context) : new Map<string, Document>();
  const ids = new Map<string, string>();
  for (const sourceId of await source.list(`${from}/issuers`)) {
    const issuer = await source.find(`${from}/issuer/${sourceId}`);
    if (issuer === undefined) continue;
    const subject = `issuer ${issuer.issuer_name || sourceId}`;
    await attempt(context, subject, async () => {
      const imported = await importIssuer(context, issuer, there.get(toPem(issuer.certificate)));
      if (imported === undefined) return;
      ids.set(sourceId, imported.issuer_id);
      if (imported.key_id === '')
        report.leaveOut(
          subject,
          'its private key, which no server shows: name its file with --key-file, else it signs nothing',
        );
    });
  }
  const wanted = ids.get((await source.find(`${from}/config/issuers`))?.default);
  if (wanted !== undefined && (await target.find(`${to}/config/issuers`))?.default !== wanted)
    await target.send('POST', `${to}/config/issuers`, { default: wanted });
  return ids;
};
