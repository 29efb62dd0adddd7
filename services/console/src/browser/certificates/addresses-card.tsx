/** The addresses that certificates name: of their issuer, of its revocation lists, and of OCSP. */
import { mountAddress } from '../api/mount-address.ts';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/data-table.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';

const LISTS = [
  ['issuing_certificates', 'Certificate of the issuer'],
  ['crl_distribution_points', 'Revocation list'],
  ['delta_crl_distribution_points', 'Delta list'],
  ['ocsp_servers', 'OCSP responder'],
] as const;

type Addresses = Readonly<Record<(typeof LISTS)[number][0], readonly string[]>> & {
  readonly enable_templating: boolean;
};

const valuesOf = (addresses: Addresses) => ({
  issuing_certificates: addresses.issuing_certificates.join('\n'),
  crl_distribution_points: addresses.crl_distribution_points.join('\n'),
  delta_crl_distribution_points: addresses.delta_crl_distribution_points.join('\n'),
  ocsp_servers: addresses.ocsp_servers.join('\n'),
  enable_templating: addresses.enable_templating,
});

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Lists are sent as lists, because an address may contain a comma. */
const changedAddresses = (changed: Partial<ReturnType<typeof valuesOf>>): object =>
  Object.fromEntries(
    Object.entries(changed).map(([name, value]) => [
      name,
      typeof value === 'string' ? linesOf(value) : value,
    ]),
  );

const EditAddresses = ({ path }: { path: string }) => (
  <EditButton
    edits="addresses"
    label="Change the addresses"
    title="Addresses that certificates name"
    target={secretTarget<Addresses>(path)}
    valuesOf={valuesOf}
    bodyOf={changedAddresses}
    fields={(values) => (
      <>
        <p>Certificates issued from now on name them; what was issued stays as it is.</p>
        {LISTS.map(([name, words]) => (
          <label key={name}>
            {words} (one address on each line)
            <textarea name={name} rows={2} spellCheck={false} defaultValue={values[name]} />
          </label>
        ))}
        <Choice name="enable_templating" isTicked={values.enable_templating}>
          Parts in double braces stand for the issuer's own
        </Choice>
      </>
    )}
    commands={() => [vaultCommand(`vault write ${path} crl_distribution_points=…`)]}
  />
);

/** Replaces the addresses by those of this server. */
const UseOwnAddresses = (props: { mount: string; path: string; before: Addresses }) => {
  const { mount, path, before } = props;
  const address = mountAddress(mount);
  const own = {
    issuing_certificates: [`${address}/ca`],
    crl_distribution_points: [`${address}/crl`],
    ocsp_servers: [`${address}/ocsp`],
  };
  const replaced = (Object.keys(own) as (keyof typeof own)[])
    .flatMap((name) => before[name])
    .filter((one) => !Object.values(own).flat().includes(one));
  return (
    <ActionButton
      label="Use the addresses of this server"
      title="Write the addresses of this server into certificates?"
      confirm="Use them"
      act={() => callSecrets('POST', path, { body: own })}
      commands={[
        secretsCurl('POST', path, own),
        vaultCommand(
          `vault write ${path} ${Object.entries(own)
            .map(([name, [one]]) => `${name}=${one}`)
            .join(' ')}`,
        ),
      ]}
    >
      <p>
        Certificates issued from now on name {address} for their issuer, its revocation list and
        OCSP. Clients must reach it under this name; what was issued stays as it is.
      </p>
      {replaced.length > 0 && <p>These are named no more: {replaced.join(', ')}.</p>}
    </ActionButton>
  );
};

export const AddressesCard = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/urls`;
  const query = useSecret<Addresses>(path);
  const may = useCapabilities([path]);
  return (
    <Card title="Addresses in certificates">
      <Loaded query={query}>
        {(addresses) =>
          addresses !== null && (
            <>
              <FactList
                facts={[
                  ...LISTS.map(
                    ([name, words]) => [words, addresses[name].join(', ') || '–'] as const,
                  ),
                  ['Parts in double braces', addresses.enable_templating ? 'replaced' : 'kept'],
                ]}
              />
              {may(path, 'update') && (
                <div className="form-actions">
                  <EditAddresses path={path} />
                  <UseOwnAddresses mount={mount} path={path} before={addresses} />
                </div>
              )}
            </>
          )
        }
      </Loaded>
      <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
    </Card>
  );
};
