/** Revokes or deletes an issuer, after saying what breaks by it. */
import { useNavigate } from '@tanstack/react-router';
import { useSecret } from '../../api/queries.ts';
import { callSecrets } from '../../api/secrets-api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { FormActions } from '../../components/fields.tsx';
import { Card } from '../../components/page.tsx';
import { ReasonField } from '../reason-field.tsx';
import type { Issuer } from './issuer.ts';
import { useRoleIssuers } from './role-issuers.ts';

interface EndedIssuer {
  readonly mount: string;
  readonly issuer: Issuer;
  readonly name: string;
  readonly isDefault: boolean;
  /** Issuers with this one in their manual chain, for people. */
  readonly chained: readonly string[];
}

interface AcmeConfig {
  readonly enabled: boolean;
  readonly allowed_issuers: readonly string[];
}

/** Everything that needs the issuer, read when the dialog is opened. */
const Broken = ({ mount, issuer, isDefault, chained }: EndedIssuer) => {
  const { roles, isPending, isPartial } = useRoleIssuers(mount);
  const { data: acme } = useSecret<AcmeConfig>(`${mount}/config/acme`);
  const references = [issuer.issuer_id, issuer.issuer_name, ...(isDefault ? ['default'] : [])];
  const stopped = roles.filter((role) => references.includes(role.issuer)).map(({ name }) => name);
  const isServed =
    acme?.enabled === true && acme.allowed_issuers.some((one) => references.includes(one));
  return (
    <ul aria-label="What breaks">
      {isDefault && (
        <li>It is the default: requests that name no issuer are refused, ACME among them.</li>
      )}
      {isPending ? (
        <li>The roles that use it are being read.</li>
      ) : (
        <li>
          {stopped.length === 0
            ? 'No role issues by it.'
            : `Nothing can be issued by these roles until another issuer takes its place: ${stopped.join(', ')}.`}
          {isPartial && ' There are further roles, which were not looked at.'}
        </li>
      )}
      {chained.length > 0 && <li>It is part of the chain of {chained.join(', ')}.</li>}
      {isServed && <li>ACME clients get certificates by it at an address of its own.</li>}
    </ul>
  );
};

const RevokeIssuer = (props: EndedIssuer) => {
  const { mount, issuer, name } = props;
  const path = `${mount}/issuer/${issuer.issuer_id}/revoke`;
  return (
    <ActionButton
      label="Revoke"
      name={`Revoke the issuer ${name}`}
      tone="danger"
      title={`Revoke the issuer ${name}?`}
      confirm="Revoke it"
      typed={name}
      act={({ text }) => callSecrets('POST', path, { body: { reason: text('reason') } })}
      commands={[
        secretsCurl('POST', path, { reason: 'superseded' }),
        vaultCommand(`vault write ${path} reason=superseded`),
      ]}
    >
      <p>
        It issues nothing any more, for good. Clients that check the revocation list of the issuer
        above refuse it and everything that it has issued. It still signs revocation lists and OCSP
        answers.
      </p>
      <Broken {...props} />
      <ReasonField />
    </ActionButton>
  );
};

const DeleteIssuer = (props: EndedIssuer) => {
  const { mount, issuer, name } = props;
  const navigate = useNavigate();
  const path = `${mount}/issuer/${issuer.issuer_id}`;
  return (
    <ActionButton
      label="Delete"
      name={`Delete the issuer ${name}`}
      tone="danger"
      title={`Delete the issuer ${name}?`}
      confirm="Delete it"
      typed={name}
      act={() => callSecrets('DELETE', path)}
      onDone={() =>
        void navigate({
          to: '/ui/certificates/$mount',
          params: { mount },
          search: { tab: 'issuers' },
        })
      }
      commands={[secretsCurl('DELETE', path), vaultCommand(`vault delete ${path}`)]}
    >
      <p>
        No revocation list and no OCSP answer is made for what it has issued any more: clients that
        ask may refuse it. Its key stays until it is deleted as well.
      </p>
      <Broken {...props} />
    </ActionButton>
  );
};

export const EndIssuer = (
  props: EndedIssuer & { readonly mayRevoke: boolean; readonly mayDelete: boolean },
) => {
  const { mayRevoke, mayDelete, ...ended } = props;
  const isRevocable = mayRevoke && !ended.issuer.revoked;
  if (!isRevocable && !mayDelete) return null;
  return (
    <Card title="End the issuer">
      <p>
        Both are for good. An issuer that a successor has replaced only stops issuing, among the
        issuers of the authority, and is deleted when its last certificate has expired.
      </p>
      <FormActions>
        {isRevocable && <RevokeIssuer {...ended} />}
        {mayDelete && <DeleteIssuer {...ended} />}
      </FormActions>
    </Card>
  );
};
