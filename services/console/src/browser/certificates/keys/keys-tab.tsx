/** Keys of an authority: which issuers use each, and what is done with it. */
import { getRouteApi } from '@tanstack/react-router';
import { useCapabilities, useSecretList } from '../../api/queries.ts';
import { callSecrets } from '../../api/secrets-api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Input, Label } from '../../components/fields.tsx';
import { useListPage } from '../../components/list-page.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Card } from '../../components/page.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Pill } from '../../components/pill.tsx';
import { Code, Hint } from '../../components/text.tsx';
import { EditButton } from '../../editing/edit-button.tsx';
import { secretTarget } from '../../editing/edit-target.ts';
import type { IssuerInfo } from '../issuer/issuer.ts';
import { nameOfIssuer } from '../issuer/issuers.ts';
import { type AuthorityKey, nameOfKey, useKeys } from './key.ts';
import { NewKey } from './new-key.tsx';

const route = getRouteApi('/ui/certificates/$mount');

/** Words of the types of keys; their size is not listed. */
const TYPES: Readonly<Record<string, string>> = { ec: 'ECDSA', rsa: 'RSA', ed25519: 'Ed25519' };

const RenameKey = ({ path, authorityKey }: { path: string; authorityKey: AuthorityKey }) => (
  <EditButton
    edits="key"
    label="Rename"
    name={`Rename the key ${nameOfKey(authorityKey)}`}
    look="small"
    title={`Rename the key ${nameOfKey(authorityKey)}`}
    target={secretTarget<{ readonly key_name: string }>(path)}
    valuesOf={({ key_name }) => ({ key_name })}
    bodyOf={(changed) => changed}
    fields={(values) => (
      <>
        <p>Requests that name it by its former name are refused; its id stays.</p>
        <Label>
          Name
          <Input
            name="key_name"
            autoComplete="off"
            pattern="[A-Za-z0-9_\-.]*"
            defaultValue={values.key_name}
          />
        </Label>
      </>
    )}
    commands={() => [vaultCommand(`vault write ${path} key_name=…`)]}
  />
);

const MakeDefault = ({ mount, authorityKey }: { mount: string; authorityKey: AuthorityKey }) => {
  const path = `${mount}/config/keys`;
  const { id } = authorityKey;
  return (
    <ActionButton
      label="Make it the default"
      name={`Make it the default: the key ${nameOfKey(authorityKey)}`}
      look="small"
      title={`Make the key ${nameOfKey(authorityKey)} the default?`}
      confirm="Make it the default"
      act={() => callSecrets('POST', path, { body: { default: id } })}
      commands={[
        secretsCurl('POST', path, { default: id }),
        vaultCommand(`vault write ${path} default=${id}`),
      ]}
    >
      <p>
        Requests for an existing key that name none use it. Issuers go on to sign with the keys that
        they have.
      </p>
    </ActionButton>
  );
};

const DeleteKey = ({ path, authorityKey }: { path: string; authorityKey: AuthorityKey }) => {
  const name = nameOfKey(authorityKey);
  return (
    <ActionButton
      label="Delete"
      name={`Delete the key ${name}`}
      look="small danger"
      tone="danger"
      title={`Delete the key ${name}?`}
      confirm="Delete it"
      typed={name}
      act={() => callSecrets('DELETE', path)}
      commands={[secretsCurl('DELETE', path), vaultCommand(`vault delete ${path}`)]}
    >
      <p>
        The private key is lost. A certificate that is signed for it later can no longer be used to
        issue, and a deleted issuer of this key can never sign its revocation list again.
      </p>
      {authorityKey.is_default && (
        <p>
          It is the default key: requests for an existing key that name none are refused until
          another one is the default.
        </p>
      )}
    </ActionButton>
  );
};

const KeyActions = (props: {
  mount: string;
  authorityKey: AuthorityKey;
  isUsed: boolean;
  may: { readonly rename: boolean; readonly delete: boolean; readonly choose: boolean };
}) => {
  const { mount, authorityKey, may } = props;
  const path = `${mount}/key/${authorityKey.id}`;
  return (
    <>
      {may.choose && !authorityKey.is_default && (
        <MakeDefault mount={mount} authorityKey={authorityKey} />
      )}{' '}
      {may.rename && <RenameKey path={path} authorityKey={authorityKey} />}{' '}
      {may.delete && !props.isUsed && <DeleteKey path={path} authorityKey={authorityKey} />}
    </>
  );
};

/** The issuers that use a key, or the way to a first one. */
const Users = (props: {
  mount: string;
  keyId: string;
  users: readonly string[];
  infos: Readonly<Record<string, IssuerInfo>>;
  mayCertify: boolean;
}) => {
  const { mount, keyId, users, infos, mayCertify } = props;
  if (users.length > 0)
    return users.map((id, at) => (
      <span key={id}>
        {at > 0 && ', '}
        <PageLink to="/ui/certificates/$mount/issuer/$issuer" params={{ mount, issuer: id }}>
          {nameOfIssuer(id, infos[id])}
        </PageLink>
      </span>
    ));
  return (
    <>
      no issuer
      {mayCertify && (
        <>
          {' · '}
          <PageLink to="/ui/certificates/$mount/certify" params={{ mount }} search={{ key: keyId }}>
            Have it certified
          </PageLink>
        </>
      )}
    </>
  );
};

export const KeysTab = () => {
  const { mount } = route.useParams();
  const { query, all } = useKeys(mount);
  const listPage = useListPage('keys');
  const issuers = useSecretList<IssuerInfo>(`${mount}/issuers`);
  const certify = `${mount}/intermediate/cross-sign`;
  const config = `${mount}/config/keys`;
  const may = useCapabilities([certify, config, ...all.map(({ id }) => `${mount}/key/${id}`)]);
  const infos = issuers.data?.infos ?? {};
  const usersOf = (keyId: string): readonly string[] =>
    Object.keys(infos).filter((id) => infos[id]?.key_id === keyId);
  return (
    <Card title="Keys">
      <Hint>
        Private keys stay in the engine. A key that an issuer uses can be deleted once that issuer
        is deleted.
      </Hint>
      <NewKey mount={mount} />
      <Loaded query={query}>
        {() => (
          <DataTable
            label="Keys"
            listPage={listPage}
            empty="There is no key: nothing can be signed."
            rows={all}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Name',
                isName: true,
                cell: (one) => (
                  <>
                    {one.key_name || <Code>{one.id}</Code>}{' '}
                    {one.is_default && <Pill tone="good">default</Pill>}
                  </>
                ),
              },
              { title: 'Type', cell: ({ key_type: type }) => TYPES[type] ?? type },
              {
                title: 'Used by',
                cell: ({ id }) =>
                  issuers.data === undefined ? (
                    '–'
                  ) : (
                    <Users
                      mount={mount}
                      keyId={id}
                      users={usersOf(id)}
                      infos={infos}
                      mayCertify={may(certify, 'update')}
                    />
                  ),
              },
              {
                title: 'Actions',
                isActions: true,
                cell: (one) => (
                  <KeyActions
                    mount={mount}
                    authorityKey={one}
                    isUsed={issuers.data === undefined || usersOf(one.id).length > 0}
                    may={{
                      choose: may(config, 'update'),
                      rename: may(`${mount}/key/${one.id}`, 'read', 'update'),
                      delete: may(`${mount}/key/${one.id}`, 'delete'),
                    }}
                  />
                ),
              },
            ]}
          />
        )}
      </Loaded>
      <Commands
        commands={[
          secretsCurl('GET', `${mount}/keys?list=true`),
          vaultCommand(`vault list ${mount}/keys`),
        ]}
      />
    </Card>
  );
};
