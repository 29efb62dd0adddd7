/**
 * A certificate for a key of an authority, by another issuer: a new intermediate, or a second certificate of an issuer
 * (cross-signing). What was begun is in the address and in the records of the signer, and goes on from there.
 */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { messageOf } from '../../api/api-problem.ts';
import { useAction, useCapabilities, useSecret, useSecretList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { fieldsOf } from '../../components/action-button.tsx';
import { Button } from '../../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { FactList } from '../../components/fact-list.tsx';
import { FormActions, Input, Label, Pair, SelectField } from '../../components/fields.tsx';
import { formatTime } from '../../components/format.ts';
import { Lifetime } from '../../components/lifetime.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Card, Empty, Page, Problem } from '../../components/page.tsx';
import { PageLink } from '../../components/page-link.tsx';
import { Code, Hint } from '../../components/text.tsx';
import { certificateContents, subjectFields } from '../certificate-contents.ts';
import type { Issuer, IssuerInfo } from '../issuer/issuer.ts';
import { nameOfIssuer } from '../issuer/issuers.ts';
import { type AuthorityKey, nameOfKey, useKeys } from '../keys/key.ts';
import {
  importCertificate,
  readSigned,
  requestFor,
  type Subject,
  signingPath,
  signRequest,
} from './certification.ts';
import type { CertifySearch } from './certify-search.ts';
import { OutsideSigner } from './outside-signer.tsx';
import { SignerFields, useSigners } from './signer-fields.tsx';

const route = getRouteApi('/ui/certificates/$mount/certify');

const FIVE_YEARS = '43800h';

/** Ways to go on, which the page keeps in its address. */
interface Steps {
  readonly onStep: (next: CertifySearch) => void;
  readonly onSigned: (next: CertifySearch & { readonly signed: string }) => void;
  readonly onImported: (issuer: string | undefined) => void;
}

const commandsOf = (mount: string, key: string, path: string) => [
  secretsCurl('POST', `${mount}/intermediate/cross-sign`, { common_name: '…', key_ref: key }),
  secretsCurl('POST', path, { csr: '…', use_csr_values: true, ttl: FIVE_YEARS }),
  secretsCurl('POST', `${mount}/intermediate/set-signed`, { certificate: '…' }),
  vaultCommand(
    `vault write -field=csr ${mount}/intermediate/cross-sign common_name=… key_ref=${key} > new.csr`,
  ),
  vaultCommand(
    `vault write -field=certificate ${path} csr=@new.csr use_csr_values=true ttl=${FIVE_YEARS} > signed.pem`,
  ),
  vaultCommand(`vault write ${mount}/intermediate/set-signed certificate=@signed.pem`),
];

/** The certificate that was signed, and not imported before the page was left. */
const Signed = (
  props: Steps & {
    mount: string;
    signer: string;
    by: string;
    serial: string;
    /** Whether this page has just had it signed, and goes on by itself. */
    isFresh: boolean;
    mayImport: boolean;
  },
) => {
  const { mount, signer, by, serial } = props;
  const { secrets, namespace } = useSession();
  const query = useQuery({
    queryKey: ['signed', secrets, namespace, signer, by, serial],
    queryFn: async () => (await readSigned(signer, by, serial)) ?? null,
  });
  const { data: listed } = useSecretList<IssuerInfo>(`${mount}/issuers`);
  const [here] =
    Object.entries(listed?.infos ?? {}).find(([, one]) => one.serial_number === serial) ?? [];
  const importing = useAction(
    (pems: readonly string[]) => importCertificate(mount, pems),
    (id) => props.onImported(id),
    () => 'The certificate is signed and imported.',
  );
  const pemsRead = query.data;
  useEffect(() => {
    if (props.isFresh && pemsRead !== undefined && pemsRead !== null) importing.run(pemsRead);
  }, [props.isFresh, pemsRead === undefined]);
  return (
    <Card title={here === undefined ? 'Signed, and not imported yet' : 'Signed and imported'}>
      {importing.error !== null && <Problem>{messageOf(importing.error)}</Problem>}
      <Loaded query={query}>
        {(pems) => {
          if (pems === null) return <Empty>The signer has no such certificate.</Empty>;
          const contents = certificateContents(pems[0] ?? '');
          return (
            <>
              <FactList
                facts={[
                  ['Subject', contents.subject],
                  ['Signed by', contents.issuer],
                  ['Expires', formatTime(contents.notAfter.getTime())],
                  ['Serial number', <Code key="serial">{serial}</Code>],
                ]}
              />
              <FormActions>
                {here === undefined && props.mayImport && (
                  <Button
                    look="primary"
                    disabled={importing.isPending}
                    onClick={() => importing.run(pems)}
                  >
                    Import the certificate
                  </Button>
                )}
                {here === undefined && (
                  <Button onClick={() => props.onStep({ signed: '' })}>Sign another one</Button>
                )}
                {here !== undefined && (
                  <PageLink
                    to="/ui/certificates/$mount/issuer/$issuer"
                    params={{ mount, issuer: here }}
                  >
                    Go to the issuer
                  </PageLink>
                )}
              </FormActions>
            </>
          );
        }}
      </Loaded>
    </Card>
  );
};

/** Makes the request and has it signed; the import follows. */
const SignHere = (
  props: Steps & {
    mount: string;
    keyId: string;
    subject: Subject | undefined;
    signer: string;
    by: string | undefined;
  },
) => {
  const { mount, keyId, subject, signer } = props;
  const { signers, isPending, error } = useSigners(signer, keyId);
  const by = signers.some(({ id }) => id === props.by) ? (props.by ?? '') : (signers[0]?.id ?? '');
  const request = `${mount}/intermediate/cross-sign`;
  const store = `${mount}/intermediate/set-signed`;
  const path = signingPath(signer, by);
  const may = useCapabilities([request, path, store]);
  const isAllowed = [request, path, store].every((one) => may(one, 'update'));
  const signing = useAction(
    async (limits: { ttl: string; max_path_length: string }) => {
      const csr = await requestFor(mount, keyId, subject ?? {});
      return signRequest(path, csr, limits);
    },
    (serial) => props.onSigned({ signer, by, signed: serial }),
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const { text } = fieldsOf(event.currentTarget);
    signing.run({ ttl: text('ttl'), max_path_length: text('max_path_length') || '-1' });
  };
  return (
    <Card title="By an authority of this server">
      <form onSubmit={submit}>
        {signing.error !== null && <Problem>{messageOf(signing.error)}</Problem>}
        {error !== null && <Problem>{messageOf(error)}</Problem>}
        <SignerFields
          signer={signer}
          by={by}
          signers={signers}
          onChange={(next, issuer) => props.onStep({ signer: next, by: issuer ?? '' })}
        />
        <Pair>
          <Lifetime name="ttl" label="Valid for" value={FIVE_YEARS} required />
          <Label>
            Authorities that may follow below it (empty: any number)
            <Input name="max_path_length" autoComplete="off" pattern="\d*" inputMode="numeric" />
          </Label>
        </Pair>
        {!isPending && signers.length === 0 && (
          <Hint>This authority has no other issuer that can sign.</Hint>
        )}
        {by !== '' && !isAllowed && (
          <Hint>This token may not have the key certified by this issuer.</Hint>
        )}
        <FormActions>
          <Button
            type="submit"
            look="primary"
            disabled={signing.isPending || by === '' || subject === undefined || !isAllowed}
          >
            {signing.isPending ? 'Working…' : 'Sign and import'}
          </Button>
        </FormActions>
        <Commands commands={commandsOf(mount, keyId, path)} />
      </form>
    </Card>
  );
};

/** The key, with the subject of its certificate: that of its issuer, or a new name. */
const KeyFields = (props: {
  keys: readonly AuthorityKey[];
  /** Names of the issuers that have a key. */
  usersOf: (keyId: string) => readonly string[];
  keyId: string;
  known: string | undefined;
  name: string;
  isNamed: boolean;
  onKey: (id: string) => void;
  onName: (name: string) => void;
}) => (
  <Card title="Key">
    <Label>
      Key that gets a certificate
      <SelectField value={props.keyId} onChange={({ target }) => props.onKey(target.value)}>
        {props.keys.map((one) => (
          <option key={one.id} value={one.id}>
            {[
              nameOfKey(one),
              ...props.usersOf(one.id),
              ...(one.is_default ? ['the default'] : []),
            ].join(', ')}
          </option>
        ))}
      </SelectField>
    </Label>
    {props.known !== undefined && (
      <p>
        An issuer has this key. The new certificate has the same subject, {props.known}: clients
        that trust the signer accept what the issuer issues.
      </p>
    )}
    {props.isNamed && (
      <Label>
        Name of the authority
        <Input
          required
          autoComplete="off"
          value={props.name}
          onChange={({ target }) => props.onName(target.value)}
        />
      </Label>
    )}
  </Card>
);

/** The issuers that have keys, and the certificate of the one that has this key. */
const useUsers = (mount: string, keyId: string) => {
  const { data: listed } = useSecretList<IssuerInfo>(`${mount}/issuers`);
  const all = Object.entries(listed?.infos ?? {});
  const user = all.find(([, { key_id: has }]) => has === keyId)?.[0];
  const issuer = useSecret<Issuer>(`${mount}/issuer/${user ?? ''}`, {
    enabled: user !== undefined,
  });
  return {
    certificate: user === undefined ? undefined : issuer.data?.certificate,
    usersOf: (key: string): readonly string[] =>
      all.filter(([, { key_id: has }]) => has === key).map(([id, info]) => nameOfIssuer(id, info)),
    isKnown: listed !== undefined && (user === undefined || !issuer.isPending),
  };
};

export const CertifyPage = () => {
  const { mount } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { query, all } = useKeys(mount);
  const keyId = search.key ?? all[0]?.id ?? '';
  const { certificate, isKnown, usersOf } = useUsers(mount, keyId);
  const [name, setName] = useState(search.name ?? '');
  const [fresh, setFresh] = useState<string>();
  const may = useCapabilities([
    `${mount}/intermediate/cross-sign`,
    `${mount}/intermediate/set-signed`,
  ]);
  const subject = ((): Subject | undefined => {
    if (certificate !== undefined) return subjectFields(certificate);
    return isKnown && name.trim() !== '' ? { common_name: name.trim() } : undefined;
  })();
  const goOn = (next: CertifySearch): void =>
    void navigate({
      search: (before) =>
        Object.fromEntries(
          Object.entries({ ...before, key: keyId, ...next }).filter(([, value]) => value !== ''),
        ),
      replace: true,
    });
  const steps: Steps = {
    onStep: goOn,
    onSigned: (next) => {
      setFresh(next.signed);
      goOn(next);
    },
    onImported: (issuer) => {
      if (issuer === undefined)
        void navigate({
          to: '/ui/certificates/$mount',
          params: { mount },
          search: { tab: 'issuers' },
        });
      else
        void navigate({
          to: '/ui/certificates/$mount/issuer/$issuer',
          params: { mount, issuer },
          search: {},
        });
    },
  };
  const { signer, by, signed } = search;
  const isSigned = signed !== undefined && signer !== undefined && by !== undefined;
  return (
    <Page
      title="Certify a key"
      lead={
        <PageLink to="/ui/certificates/$mount" params={{ mount }} search={{ tab: 'issuers' }}>
          Issuers of {mount}
        </PageLink>
      }
    >
      <Loaded query={query}>
        {() =>
          all.length === 0 ? (
            <Empty>This authority has no key: generate one first, among its keys.</Empty>
          ) : (
            <>
              {isSigned ? (
                <Signed
                  {...steps}
                  mount={mount}
                  signer={signer}
                  by={by}
                  serial={signed}
                  isFresh={fresh === signed}
                  mayImport={may(`${mount}/intermediate/set-signed`, 'update')}
                />
              ) : (
                <>
                  <KeyFields
                    keys={all}
                    usersOf={usersOf}
                    keyId={keyId}
                    known={
                      certificate === undefined
                        ? undefined
                        : certificateContents(certificate).subject
                    }
                    name={name}
                    isNamed={isKnown && certificate === undefined}
                    onKey={(key) => steps.onStep({ key, name: '' })}
                    onName={setName}
                  />
                  <SignHere
                    {...steps}
                    mount={mount}
                    keyId={keyId}
                    subject={subject}
                    signer={signer ?? mount}
                    by={by}
                  />
                  <OutsideSigner
                    mount={mount}
                    keyId={keyId}
                    subject={subject}
                    mayRequest={may(`${mount}/intermediate/cross-sign`, 'update')}
                    mayImport={may(`${mount}/intermediate/set-signed`, 'update')}
                  />
                </>
              )}
            </>
          )
        }
      </Loaded>
    </Page>
  );
};
