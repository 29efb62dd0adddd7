/** The addresses that certificates name: of their issuer, of its revocation lists, and of OCSP. */
import { mountAddress } from '../api/mount-address.ts';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card } from '../components/page.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';
import {
  AddressFields,
  type AddressLists,
  addressFacts,
  addressValues,
  changedLists,
  TemplateHint,
} from './address-lists.tsx';

type Addresses = AddressLists & { readonly enable_templating: boolean };

const valuesOf = (addresses: Addresses) => ({
  ...addressValues(addresses),
  enable_templating: addresses.enable_templating,
});

const EditAddresses = ({ path }: { path: string }) => (
  <EditButton
    edits="addresses"
    label="Change the addresses"
    title="Addresses that certificates name"
    target={secretTarget<Addresses>(path)}
    valuesOf={valuesOf}
    bodyOf={changedLists}
    fields={(values) => (
      <>
        <p>Certificates issued from now on name them; what was issued stays as it is.</p>
        <AddressFields values={values} />
        <Choice name="enable_templating" isTicked={values.enable_templating}>
          Parts in double braces stand for the issuer's own
        </Choice>
        <TemplateHint />
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
                  ...addressFacts(addresses),
                  ['Parts in double braces', addresses.enable_templating ? 'replaced' : 'kept'],
                ]}
              />
              {may(path, 'update') && (
                <FormActions>
                  <EditAddresses path={path} />
                  <UseOwnAddresses mount={mount} path={path} before={addresses} />
                </FormActions>
              )}
            </>
          )
        }
      </Loaded>
      <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
    </Card>
  );
};
