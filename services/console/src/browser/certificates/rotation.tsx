/**
 * The rotation of an issuer in steps: create the successor, let clients trust it, issue with it,
 * retire the old issuer.
 */
import { useNavigate } from '@tanstack/react-router';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FormActions, Input, Label, Pair } from '../components/fields.tsx';
import { Card } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { Steps } from '../components/steps.tsx';
import { ImportSigned } from './certify/outside-signer.tsx';
import { FollowingDefault } from './issuer/following-default.tsx';
import { KeyKindField, keyParameters } from './keys/key-kinds.tsx';

const TEN_YEARS = '87600h';
/** Usage of a retired issuer: it issues no certificates, but still signs CRLs and OCSP answers. */
const RETIRED_USAGE = 'read-only,crl-signing,ocsp-signing';

const rootBody = (name: string, key: string): object => ({
  common_name: name,
  ...keyParameters(key),
  ttl: TEN_YEARS,
});

const GenerateRoot = ({ mount }: { mount: string }) => {
  const path = `${mount}/issuers/generate/root/internal`;
  return (
    <ActionButton
      label="Generate a root"
      title="Generate a root with a key of its own"
      confirm="Generate"
      act={({ text }) => callSecrets('POST', path, { body: rootBody(text('name'), text('key')) })}
      commands={[
        secretsCurl('POST', path, rootBody('…', 'ec-256')),
        vaultCommand(`vault write ${path} common_name=… key_type=ec ttl=${TEN_YEARS}`),
      ]}
    >
      <p>
        The other issuers remain. The new one issues nothing until a role or the default names it,
        is valid for ten years, and its key never leaves the engine.
      </p>
      <Pair>
        <Label>
          Name
          <Input name="name" required autoComplete="off" />
        </Label>
        <KeyKindField />
      </Pair>
    </ActionButton>
  );
};

/** Generates the key of an intermediate, whose certificate is the next page's. */
const AddIntermediate = ({ mount }: { mount: string }) => {
  const navigate = useNavigate();
  const path = `${mount}/issuers/generate/intermediate/internal`;
  return (
    <ActionButton
      label="Add an intermediate"
      title="Add an intermediate, signed by another authority"
      confirm="Generate its key"
      act={async ({ text }) => {
        const name = text('name');
        const { data } = await callSecrets<{ data: { key_id: string } }>('POST', path, {
          body: { common_name: name, ...keyParameters(text('key')) },
        });
        await navigate({
          to: '/ui/certificates/$mount/certify',
          params: { mount },
          search: { key: data.key_id, name },
        });
      }}
      commands={[
        secretsCurl('POST', path, { common_name: '…', key_type: 'ec' }),
        vaultCommand(`vault write -field=csr ${path} common_name=… key_type=ec > new.csr`),
      ]}
    >
      <p>
        A key is made here. On the next page another authority signs it, of this server or
        elsewhere. Nothing is issued by it until it becomes the default.
      </p>
      <Pair>
        <Label>
          Name
          <Input name="name" required autoComplete="off" />
        </Label>
        <KeyKindField />
      </Pair>
    </ActionButton>
  );
};

export const Rotation = (props: {
  mount: string;
  may: {
    readonly generateRoot: boolean;
    readonly generateKey: boolean;
    readonly certify: boolean;
    readonly import: boolean;
  };
}) => {
  const { mount, may } = props;
  return (
    <Card title="Rotate an issuer">
      <Steps>
        <li>
          <strong>Create the successor.</strong> The issuer in use remains, and nothing changes for
          clients.
          <FormActions>
            {may.generateRoot && <GenerateRoot mount={mount} />}
            {may.generateKey && <AddIntermediate mount={mount} />}
            {may.import && <ImportSigned mount={mount} />}
          </FormActions>
        </li>
        <li>
          <strong>Let clients trust it.</strong> Give a new root's PEM, below, to every client that
          checks certificates, or have the old root vouch for it until they have it. An intermediate
          needs nothing: it comes with the chain.
          {may.certify && (
            <FormActions>
              <PageLink to="/ui/certificates/$mount/certify" params={{ mount }}>
                Cross-sign
              </PageLink>
            </FormActions>
          )}
        </li>
        <li>
          <strong>Issue by it.</strong> Make it the default, below, which shows before what will
          happen. Roles that name an issuer are changed one by one. What the old one has issued
          stays valid.
          <FollowingDefault mount={mount} />
        </li>
        <li>
          <strong>Retire the old one.</strong> “Stop issuing by it”, below, keeps its revocation
          lists and OCSP answers, without which clients may refuse what it has issued. Delete it, on
          its own page, when its last certificate has expired.
        </li>
      </Steps>
    </Card>
  );
};

/** Removes an issuer's right to issue. */
export const RetireIssuer = (props: { mount: string; id: string; name: string }) => {
  const { mount, id, name } = props;
  const path = `${mount}/issuer/${id}`;
  return (
    <ActionButton
      label="Stop issuing by it"
      name={`Stop issuing by it: ${name}`}
      tone="danger"
      title={`Stop issuing by ${name}?`}
      confirm="Stop issuing"
      act={() => callSecrets('PATCH', path, { body: { usage: RETIRED_USAGE } })}
      commands={[
        secretsCurl('PATCH', path, { usage: RETIRED_USAGE }),
        vaultCommand(`vault patch ${path} usage=${RETIRED_USAGE}`),
      ]}
    >
      <p>
        Roles that name it are refused from now on. It still signs revocation lists and OCSP answers
        for what it has issued.
      </p>
    </ActionButton>
  );
};
