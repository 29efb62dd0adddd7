/**
 * The rotation of an issuer in steps: create the successor, let clients trust it, issue with it,
 * retire the old issuer.
 */
import { useState } from 'react';
import { useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Card } from '../components/page.tsx';
import { subjectFields } from './certificate-contents.ts';
import { Download } from './download.tsx';

const TEN_YEARS = '87600h';
const FIVE_YEARS = '43800h';
/** Usage of a retired issuer: it issues no certificates, but still signs CRLs and OCSP answers. */
const RETIRED_USAGE = 'read-only,crl-signing,ocsp-signing';

const rootBody = (name: string): object => ({
  common_name: name,
  key_type: 'ec',
  ttl: TEN_YEARS,
});

const GenerateRoot = ({ mount }: { mount: string }) => {
  const path = `${mount}/issuers/generate/root/internal`;
  return (
    <ActionButton
      label="Generate a root"
      title="Generate a root with a key of its own"
      confirm="Generate"
      act={({ text }) => callSecrets('POST', path, { body: rootBody(text('name')) })}
      commands={[
        secretsCurl('POST', path, rootBody('…')),
        vaultCommand(`vault write ${path} common_name=… key_type=ec ttl=${TEN_YEARS}`),
      ]}
    >
      <p>
        The other issuers remain. The new one issues nothing until a role or the default names it,
        is valid for ten years, and its key never leaves the engine.
      </p>
      <label>
        Name
        <input name="name" required autoComplete="off" />
      </label>
    </ActionButton>
  );
};

interface UiMounts {
  readonly secret?: Readonly<Record<string, { readonly type: string }>>;
}

/**
 * Generates a key and a CSR, has the CSR signed by another authority of this server, and imports
 * the certificate.
 */
const makeIntermediate = async (mount: string, signer: string, name: string): Promise<void> => {
  const { data: made } = await callSecrets<{ data: { csr: string } }>(
    'POST',
    `${mount}/issuers/generate/intermediate/internal`,
    { body: { common_name: name, key_type: 'ec' } },
  );
  const { data: signed } = await callSecrets<{
    data: { certificate: string; ca_chain?: readonly string[] };
  }>('POST', `${signer}/issuer/default/sign-intermediate`, {
    body: { csr: made.csr, common_name: name, ttl: FIVE_YEARS },
  });
  await callSecrets('POST', `${mount}/intermediate/set-signed`, {
    body: { certificate: [signed.certificate, ...(signed.ca_chain ?? [])].join('\n') },
  });
};

const AddIntermediate = ({ mount }: { mount: string }) => {
  const { data: mounts } = useSecret<UiMounts>('sys/internal/ui/mounts');
  const signers = Object.entries(mounts?.secret ?? {})
    .filter(([, { type }]) => type === 'pki')
    .map(([path]) => path.replace(/\/$/, ''));
  const generate = `${mount}/issuers/generate/intermediate/internal`;
  return (
    <ActionButton
      label="Add an intermediate"
      title="Add an intermediate, signed by another authority"
      confirm="Generate and sign it"
      act={({ text }) => makeIntermediate(mount, text('signer'), text('name'))}
      commands={[
        secretsCurl('POST', generate, { common_name: '…', key_type: 'ec' }),
        secretsCurl('POST', 'SIGNER/issuer/default/sign-intermediate', {
          csr: '…',
          ttl: FIVE_YEARS,
        }),
        secretsCurl('POST', `${mount}/intermediate/set-signed`, { certificate: '…' }),
        vaultCommand(`vault write -field=csr ${generate} common_name=… > new.csr`),
        vaultCommand(
          'vault write -field=certificate SIGNER/issuer/default/sign-intermediate csr=@new.csr > new.pem',
        ),
        vaultCommand(`vault write ${mount}/intermediate/set-signed certificate=@new.pem`),
      ]}
    >
      <p>
        A key is made here, the default issuer of the other authority signs it for five years, and
        the signed certificate is taken in with its chain. Nothing is issued by it until it becomes
        the default.
      </p>
      <label>
        Name
        <input name="name" required autoComplete="off" />
      </label>
      <label>
        Signed by
        <select name="signer" required>
          {signers.map((path) => (
            <option key={path} value={path}>
              {path}
            </option>
          ))}
        </select>
      </label>
    </ActionButton>
  );
};

/** Shows a CSR for an external authority, and a field for the signed certificate. */
const OutsideSigner = ({ mount }: { mount: string }) => {
  const [csr, setCsr] = useState<string>();
  const generate = `${mount}/issuers/generate/intermediate/internal`;
  const setSigned = `${mount}/intermediate/set-signed`;
  return (
    <>
      <ActionButton
        label="Create a request for an outside authority"
        title="Generate a key and a request for an outside authority"
        confirm="Create the request"
        act={async ({ text }) => {
          const { data } = await callSecrets<{ data: { csr: string } }>('POST', generate, {
            body: { common_name: text('name'), key_type: 'ec' },
          });
          setCsr(data.csr);
        }}
        commands={[
          secretsCurl('POST', generate, { common_name: '…', key_type: 'ec' }),
          vaultCommand(`vault write -field=csr ${generate} common_name=…`),
        ]}
      >
        <label>
          Name
          <input name="name" required autoComplete="off" />
        </label>
      </ActionButton>
      {csr !== undefined && <Download name="intermediate.csr" content={csr} label="the request" />}
      <ActionButton
        label="Import a signed certificate"
        title="Import what the outside authority has signed"
        confirm="Import it"
        act={({ text }) => callSecrets('POST', setSigned, { body: { certificate: text('pem') } })}
        commands={[
          secretsCurl('POST', setSigned, { certificate: '…' }),
          vaultCommand(`vault write ${setSigned} certificate=@signed.pem`),
        ]}
      >
        <label>
          Certificate and its chain in PEM
          <textarea name="pem" className="code" rows={6} required />
        </label>
      </ActionButton>
    </>
  );
};

/** An issuer of the authority whose key is in the engine. */
export interface KeyedIssuer {
  readonly id: string;
  readonly name: string;
  readonly keyId: string;
  readonly certificate: string;
}

/** A certificate for the key and the subject of one issuer, signed by another one. */
const crossSign = async (mount: string, signer: string, issuer: KeyedIssuer): Promise<void> => {
  const { data: made } = await callSecrets<{ data: { csr: string } }>(
    'POST',
    `${mount}/intermediate/cross-sign`,
    { body: { key_ref: issuer.keyId, ...subjectFields(issuer.certificate) } },
  );
  const { data: signed } = await callSecrets<{ data: { certificate: string } }>(
    'POST',
    `${mount}/issuer/${signer}/sign-intermediate`,
    { body: { csr: made.csr, use_csr_values: true, ttl: FIVE_YEARS } },
  );
  await callSecrets('POST', `${mount}/intermediate/set-signed`, {
    body: { certificate: signed.certificate },
  });
};

const IssuerSelect = (props: { name: string; label: string; issuers: readonly KeyedIssuer[] }) => (
  <label>
    {props.label}
    <select name={props.name} required>
      {props.issuers.map(({ id, name }) => (
        <option key={id} value={id}>
          {name} ({id.slice(0, 8)})
        </option>
      ))}
    </select>
  </label>
);

const CrossSign = ({ mount, issuers }: { mount: string; issuers: readonly KeyedIssuer[] }) => (
  <ActionButton
    label="Cross-sign"
    title="Cross-sign one issuer with another"
    confirm="Cross-sign it"
    act={async ({ text }) => {
      const issuer = issuers.find(({ id }) => id === text('issuer'));
      if (issuer !== undefined) await crossSign(mount, text('signer'), issuer);
    }}
    commands={[
      secretsCurl('POST', `${mount}/intermediate/cross-sign`, { common_name: '…', key_ref: '…' }),
      secretsCurl('POST', `${mount}/issuer/OLD/sign-intermediate`, {
        csr: '…',
        use_csr_values: true,
        ttl: FIVE_YEARS,
      }),
      secretsCurl('POST', `${mount}/intermediate/set-signed`, { certificate: '…' }),
      vaultCommand(
        `vault write -field=csr ${mount}/intermediate/cross-sign common_name=… key_ref=… > new.csr`,
      ),
      vaultCommand(
        `vault write -field=certificate ${mount}/issuer/OLD/sign-intermediate csr=@new.csr use_csr_values=true ttl=${FIVE_YEARS} > crossed.pem`,
      ),
      vaultCommand(`vault write ${mount}/intermediate/set-signed certificate=@crossed.pem`),
    ]}
  >
    <p>
      A second certificate for the same key and subject is added. Clients that trust only the old
      root then accept what the new one issues, until this certificate expires after five years.
    </p>
    <IssuerSelect name="issuer" label="The new issuer" issuers={issuers} />
    <IssuerSelect name="signer" label="Signed by the old one" issuers={issuers.toReversed()} />
  </ActionButton>
);

export const Rotation = (props: { mount: string; issuers: readonly KeyedIssuer[] }) => (
  <Card title="Rotate an issuer">
    <ol className="steps">
      <li>
        <strong>Create the successor.</strong> The issuer in use remains, and nothing changes for
        clients.
        <div className="form-actions">
          <GenerateRoot mount={props.mount} />
          <AddIntermediate mount={props.mount} />
          <OutsideSigner mount={props.mount} />
        </div>
      </li>
      <li>
        <strong>Let clients trust it.</strong> Give a new root's PEM, below, to every client that
        checks certificates, or have the old root vouch for it until they have it. An intermediate
        needs nothing: it comes with the chain.
        {props.issuers.length > 1 && (
          <div className="form-actions">
            <CrossSign {...props} />
          </div>
        )}
      </li>
      <li>
        <strong>Issue by it.</strong> Make it the default, below. Roles that name an issuer are
        changed one by one. What the old one has issued stays valid.
      </li>
      <li>
        <strong>Retire the old one.</strong> “Stop issuing by it”, below, keeps its revocation lists
        and OCSP answers, without which clients may refuse what it has issued. Delete it when its
        last certificate has expired.
      </li>
    </ol>
  </Card>
);

/** Removes an issuer's right to issue, and finally the issuer itself. */
export const RetireIssuer = (props: {
  mount: string;
  id: string;
  name: string;
  usage: string;
  mayChange: boolean;
  mayDelete: boolean;
}) => {
  const { mount, id, name } = props;
  const path = `${mount}/issuer/${id}`;
  return (
    <>
      {props.mayChange && props.usage.includes('issuing-certificates') && (
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
            Roles that name it are refused from now on. It still signs revocation lists and OCSP
            answers for what it has issued.
          </p>
        </ActionButton>
      )}
      {props.mayDelete && (
        <ActionButton
          label="Delete"
          name={`Delete the issuer ${name}`}
          tone="danger"
          title={`Delete the issuer ${name}?`}
          confirm="Delete it"
          typed={name}
          act={() => callSecrets('DELETE', path)}
          commands={[secretsCurl('DELETE', path), vaultCommand(`vault delete ${path}`)]}
        >
          <p>
            No revocation list and no OCSP answer is made for what it has issued any more: clients
            that ask may refuse it. Its key stays until it is deleted as well.
          </p>
        </ActionButton>
      )}
    </>
  );
};
