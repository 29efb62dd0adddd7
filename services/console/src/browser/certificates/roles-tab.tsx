/** Roles of an authority: the names that each allows, and issuing certificates with it. */
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useCapabilities, useSecret, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton, type Fields, fieldsOf } from '../components/action-button.tsx';
import { Commands, secretsCurl } from '../components/commands.tsx';
import { FactList } from '../components/data-table.tsx';
import { Loaded, Skeleton } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { IssueForm } from './issue-form.tsx';
import { type NameRules, nameRules, type Role, usesOf } from './role.ts';
import { RolePreview } from './role-preview.tsx';

const route = getRouteApi('/ui/certificates/$mount');

const bodyOf = ({ text, isChecked }: Fields): object => ({
  allowed_domains: text('domains'),
  allow_bare_domains: isChecked('bare'),
  allow_subdomains: isChecked('below'),
  allow_wildcard_certificates: isChecked('wildcards'),
  allow_ip_sans: isChecked('addresses'),
  server_flag: isChecked('servers'),
  client_flag: isChecked('clients'),
  key_type: text('key'),
  max_ttl: text('max'),
});

const Choice = (props: { name: string; text: string; isOn: boolean }) => (
  <label className="choice">
    <input type="checkbox" name={props.name} defaultChecked={props.isOn} /> {props.text}
  </label>
);

const NEW_RULES: NameRules = {
  allow_any_name: false,
  allow_glob_domains: false,
  allow_localhost: true,
  allowed_domains: [],
  allow_bare_domains: false,
  allow_subdomains: true,
  allow_wildcard_certificates: false,
  allow_ip_sans: false,
};

/** Reads the rules from the form's fields. */
const rulesIn = ({ text, isChecked }: Fields): Partial<NameRules> => ({
  allowed_domains: text('domains')
    .split(',')
    .map((domain) => domain.trim())
    .filter((domain) => domain !== ''),
  allow_bare_domains: isChecked('bare'),
  allow_subdomains: isChecked('below'),
  allow_wildcard_certificates: isChecked('wildcards'),
  allow_ip_sans: isChecked('addresses'),
});

/** The fields of a role, next to a preview of their effect on a request. */
const RoleFields = ({ role }: { role?: Role }) => {
  const [rules, setRules] = useState<NameRules>(role ?? NEW_RULES);
  return (
    <div
      onChange={(event) => {
        const form = event.currentTarget.closest('form');
        // Rules that the form does not show keep their values.
        if (form !== null) setRules({ ...(role ?? NEW_RULES), ...rulesIn(fieldsOf(form)) });
      }}
    >
      <RoleInputs {...(role && { role })} />
      <RolePreview rules={rules} />
    </div>
  );
};

const RoleInputs = ({ role }: { role?: Role }) => (
  <>
    <label>
      Domains, divided by commas
      <input
        name="domains"
        required
        autoComplete="off"
        placeholder="example.com"
        defaultValue={role?.allowed_domains.join(',')}
      />
    </label>
    <fieldset>
      <legend>Names that are certified</legend>
      <Choice name="bare" text="the domains themselves" isOn={role?.allow_bare_domains ?? false} />
      <Choice name="below" text="names below them" isOn={role?.allow_subdomains ?? true} />
      <Choice name="wildcards" text="wildcards" isOn={role?.allow_wildcard_certificates ?? false} />
      <Choice name="addresses" text="IP addresses" isOn={role?.allow_ip_sans ?? false} />
    </fieldset>
    <fieldset>
      <legend>For</legend>
      <Choice name="servers" text="servers" isOn={role?.server_flag ?? true} />
      <Choice name="clients" text="clients" isOn={role?.client_flag ?? true} />
    </fieldset>
    <div className="pair">
      <label>
        Key
        <select name="key" defaultValue={role?.key_type ?? 'ec'}>
          <option value="ec">EC (P-256)</option>
          <option value="rsa">RSA</option>
          <option value="ed25519">Ed25519</option>
          <option value="any">any (only for requests with a key of their own)</option>
        </select>
      </label>
      <label>
        Longest validity
        <input
          name="max"
          required
          autoComplete="off"
          defaultValue={role?.max_ttl ?? '720h'}
          pattern="\d+[smhd]?"
          title="a number of seconds, or one with s, m, h or d"
        />
      </label>
    </div>
  </>
);

const RoleCard = ({ mount, name }: { mount: string; name: string }) => {
  const path = `${mount}/roles/${encodeURIComponent(name)}`;
  const issuePath = `${mount}/issue/${encodeURIComponent(name)}`;
  const { data: role } = useSecret<Role>(path);
  const may = useCapabilities([path, issuePath]);
  const [isIssuing, setIssuing] = useState(false);
  return (
    <Card title={name}>
      {role === undefined && <Skeleton />}
      {role && (
        <FactList
          facts={[
            ['Certifies', nameRules(role).join(' ')],
            ['For', usesOf(role)],
            ['Key', role.key_bits > 0 ? `${role.key_type} ${role.key_bits}` : role.key_type],
            [
              'Valid for at most',
              /^0s?$/.test(String(role.max_ttl)) ? 'as long as the authority allows' : role.max_ttl,
            ],
            ['Issuer', role.issuer_ref],
          ]}
        />
      )}
      <div className="form-actions">
        {may(issuePath, 'update') && (
          <button
            type="button"
            className="primary"
            aria-expanded={isIssuing}
            aria-label={`Issue by ${name}`}
            onClick={() => setIssuing(!isIssuing)}
          >
            Issue
          </button>
        )}
        {role && may(path, 'update') && (
          <ActionButton
            label="Edit"
            name={`Edit ${name}`}
            title={`Edit the role ${name}`}
            confirm="Save"
            // The engine's POST replaces the whole role, so members that the form lacks are sent along.
            act={(fields) => callSecrets('POST', path, { body: { ...role, ...bodyOf(fields) } })}
            commands={[
              secretsCurl('POST', path, { ...role, allowed_domains: '…' }),
              { tool: 'vault', text: `vault patch ${path} allowed_domains=…` },
            ]}
          >
            <RoleFields role={role} />
          </ActionButton>
        )}
        {may(path, 'delete') && (
          <ActionButton
            label="Delete"
            name={`Delete ${name}`}
            tone="danger"
            title={`Delete the role ${name}?`}
            confirm="Delete it"
            act={() => callSecrets('DELETE', path)}
            commands={[
              secretsCurl('DELETE', path),
              { tool: 'vault', text: `vault delete ${path}` },
            ]}
          >
            <p>Nobody can issue by it any more. What was issued stays valid.</p>
          </ActionButton>
        )}
      </div>
      {isIssuing && <IssueForm mount={mount} role={name} />}
      <Commands
        commands={[secretsCurl('GET', path), { tool: 'vault', text: `vault read ${path}` }]}
      />
    </Card>
  );
};

export const RolesTab = () => {
  const { mount } = route.useParams();
  const query = useSecretList(`${mount}/roles`);
  const may = useCapabilities([`${mount}/roles/new`]);
  return (
    <>
      {may(`${mount}/roles/new`, 'update') && (
        <div className="form-actions">
          <ActionButton
            label="Create role"
            title="Create a role"
            confirm="Create"
            tone="primary"
            act={(fields) =>
              callSecrets('POST', `${mount}/roles/${encodeURIComponent(fields.text('name'))}`, {
                body: bodyOf(fields),
              })
            }
            commands={[
              secretsCurl('POST', `${mount}/roles/NAME`, {
                allowed_domains: 'example.com',
                allow_subdomains: true,
                max_ttl: '720h',
              }),
              {
                tool: 'vault',
                text: `vault write ${mount}/roles/NAME allowed_domains=example.com allow_subdomains=true max_ttl=720h`,
              },
            ]}
          >
            <label>
              Name
              <input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-.]+" />
            </label>
            <RoleFields />
          </ActionButton>
        </div>
      )}
      <Loaded query={query}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty>There is no role: certificates are issued by one.</Empty>
          ) : (
            keys.map((name) => <RoleCard key={name} mount={mount} name={name} />)
          )
        }
      </Loaded>
    </>
  );
};
