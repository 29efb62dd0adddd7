/** `keelson import vault-pki`: imports one certificate mount through the public API of the other product. */
import { X509Certificate } from 'node:crypto';
import type { Document } from '../client/api-client.ts';
import { attempt, attemptEach } from '../importing/attempts.ts';
import { orNothing } from '../importing/paced-server.ts';
import { type IssuerIds, importIssuers } from './issuer-import.ts';
import type { PkiImportContext } from './pki-import-context.ts';

/** Settings of the mount that every import copies from the source. */
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  'config/urls': [
    'issuing_certificates',
    'crl_distribution_points',
    'delta_crl_distribution_points',
    'ocsp_servers',
    'enable_templating',
  ],
  'config/crl': [
    'expiry',
    'disable',
    'ocsp_disable',
    'ocsp_expiry',
    'auto_rebuild',
    'auto_rebuild_grace_period',
    'enable_delta',
    'delta_rebuild_interval',
  ],
};

const LEFT_OUT: readonly (readonly [path: string, text: string])[] = [
  ['config/acme', 'ACME is enabled: enable it here; accounts register again'],
  ['config/est', 'EST is enabled: enable it here'],
  ['config/cmp', 'CMP is enabled, which Keelson does not offer'],
  ['config/auto-tidy', 'automatic tidying is enabled: enable it here'],
];

const importMount = async (context: PkiImportContext): Promise<void> => {
  const { source, target, from, to, report, isDryRun, isMountThere } = context;
  if (isMountThere) {
    report.countAlreadyThere('mounts');
    return;
  }
  const tuned = await source.find(`sys/mounts/${from}/tune`).catch(orNothing);
  if (tuned === undefined)
    report.leaveOut(`mount ${to}`, 'its longest lifetime, which this token may not read: tune it');
  if (!isDryRun)
    await target.send('POST', `sys/mounts/${to}`, {
      type: 'pki',
      ...(tuned && { config: { max_lease_ttl: `${tuned.max_lease_ttl}s` } }),
    });
  report.countTakenOver('mounts');
};

const pick = (from: Document, names: readonly string[]): object =>
  Object.fromEntries(
    names.filter((name) => from?.[name] != null).map((name) => [name, from[name]]),
  );

const importSettings = async ({
  source,
  target,
  from,
  to,
  report,
  isDryRun,
  isMountThere,
}: PkiImportContext): Promise<void> => {
  for (const [path, names] of Object.entries(SETTINGS)) {
    const wanted = pick(await source.find(`${from}/${path}`), names);
    const current = isMountThere || !isDryRun ? await target.find(`${to}/${path}`) : {};
    if (JSON.stringify(pick(current, Object.keys(wanted))) === JSON.stringify(wanted))
      report.countAlreadyThere('settings');
    else {
      if (!isDryRun) await target.send('POST', `${to}/${path}`, wanted);
      report.countTakenOver('settings');
    }
  }
  for (const [path, text] of LEFT_OUT) {
    const settings = await source.find(`${from}/${path}`).catch(orNothing);
    if (settings?.enabled === true) report.leaveOut(`mount ${to}`, text);
  }
};

const importRoles = async (context: PkiImportContext, issuers: IssuerIds): Promise<void> => {
  const { source, target, from, to, report, isDryRun, isMountThere } = context;
  const there = new Set(isMountThere ? await target.list(`${to}/roles`) : []);
  const subjectOf = (name: string): string => `role ${name}`;
  await attemptEach(context, await source.list(`${from}/roles`), subjectOf, async (name) => {
    if (there.has(name)) {
      report.countAlreadyThere('roles');
      return;
    }
    if (!isDryRun) {
      const path = `roles/${encodeURIComponent(name)}`;
      // Every product shows this member, but it is not a setting.
      const { allow_token_displayname: _, ...role } = await source.find(`${from}/${path}`);
      const issuer_ref = issuers.get(role.issuer_ref) ?? role.issuer_ref;
      const answer = await target.send('POST', `${to}/${path}`, { ...role, issuer_ref });
      for (const warning of answer?.warnings ?? []) report.leaveOut(subjectOf(name), warning);
    }
    report.countTakenOver('roles');
  });
};

/** Serial numbers of revoked certificates, or of all if the source, an older version, cannot list the revoked. */
const findRevoked = async ({ source, from }: PkiImportContext): Promise<readonly string[]> => {
  const listed = await source.listIfOffered(`${from}/certs/revoked`);
  return listed ?? source.list(`${from}/certs`);
};

/** Revokes certificates by their text. Expired ones are left out, because CRLs do not contain them. */
const importRevocations = async (context: PkiImportContext): Promise<void> => {
  const { source, target, from, to, report, isDryRun, isMountThere } = context;
  const there = new Set(isMountThere ? await target.list(`${to}/certs/revoked`) : []);
  const subjectOf = (serial: string): string => `certificate ${serial}`;
  await attemptEach(context, await findRevoked(context), subjectOf, async (serial) => {
    if (there.has(serial)) {
      report.countAlreadyThere('revocations');
      return;
    }
    const found = await source.find(`${from}/cert/${serial}`);
    if (!found || !(found.revocation_time > 0)) return;
    if (new X509Certificate(found.certificate).validToDate.getTime() < Date.now()) return;
    if (!isDryRun) await target.send('POST', `${to}/revoke`, { certificate: found.certificate });
    report.countTakenOver('revocations');
  });
};

/** The order matters: roles name issuers, and only a mount with its issuers accepts foreign certificates. */
export const importPki = async (given: Omit<PkiImportContext, 'isMountThere'>): Promise<void> => {
  const mounts = await given.target.find('sys/mounts');
  const context = { ...given, isMountThere: mounts?.[`${given.to}/`] !== undefined };
  await importMount(context);
  await attempt(context, `mount ${given.to}`, () => importSettings(context));
  const issuers = await importIssuers(context);
  await importRoles(context, issuers);
  await importRevocations(context);
};
