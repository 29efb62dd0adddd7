/** Roles of an authority: the names that each allows, and issuing certificates with it. */
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiProblem } from '../api/api-problem.ts';
import { useCapabilities, useSecret, useSecretList } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { useOpenedByAddress } from '../components/opened-by-address.ts';
import { Card, Empty } from '../components/page.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Hint } from '../components/text.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';
import { IssueForm } from './issue-form.tsx';
import { nameRules, type Role, usesOf } from './role.ts';
import { changedRole, NEW_ROLE, newRoleBody, RoleFields, roleValues } from './role-fields.tsx';

const route = getRouteApi('/ui/certificates/$mount');

const RoleCard = ({ mount, name }: { mount: string; name: string }) => {
  const path = `${mount}/roles/${encodeURIComponent(name)}`;
  const issuePath = `${mount}/issue/${encodeURIComponent(name)}`;
  const { data: role, isPending } = useSecret<Role>(path);
  const may = useCapabilities([path, issuePath]);
  const [isIssuing, setIssuing] = useState(false);
  useOpenedByAddress(`issue-${encodeURIComponent(name)}`, () => setIssuing(true));
  return (
    <Card title={name}>
      {isPending && <Skeleton />}
      {role && (
        <FactList
          facts={[
            ['Allowed names', nameRules(role).join(' ')],
            ['For', usesOf(role)],
            ['Key', role.key_bits > 0 ? `${role.key_type} ${role.key_bits}` : role.key_type],
            [
              'Valid for at most',
              /^0s?$/.test(String(role.max_ttl)) ? 'as long as the authority allows' : role.max_ttl,
            ],
            ['Issuer', role.issuer_ref],
            ...(role.no_store
              ? [['Kept', 'no copy: they can neither be listed nor revoked'] as const]
              : []),
          ]}
        />
      )}
      <FormActions>
        {may(issuePath, 'update') && (
          <Button
            look="primary"
            aria-expanded={isIssuing}
            aria-label={`Issue by ${name}`}
            onClick={() => setIssuing(!isIssuing)}
          >
            Issue
          </Button>
        )}
        {role && may(path, 'update') && (
          <EditButton
            edits="role"
            label="Edit"
            name={`Edit ${name}`}
            title={`Edit the role ${name}`}
            target={secretTarget<Role>(path)}
            valuesOf={roleValues}
            bodyOf={changedRole}
            fields={(values, newest) => <RoleFields role={values} keyBits={newest.key_bits} />}
            commands={() => [vaultCommand(`vault patch ${path} allowed_domains=…`)]}
          />
        )}
        {may(path, 'delete') && (
          <ActionButton
            label="Delete"
            name={`Delete ${name}`}
            tone="danger"
            title={`Delete the role ${name}?`}
            confirm="Delete it"
            act={() => callSecrets('DELETE', path)}
            commands={[secretsCurl('DELETE', path), vaultCommand(`vault delete ${path}`)]}
          >
            <p>Nobody can issue by it any more. What was issued stays valid.</p>
          </ActionButton>
        )}
      </FormActions>
      {isIssuing && <IssueForm mount={mount} role={name} isFocused />}
      <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
    </Card>
  );
};

/** Whoever may issue by a role need not be able to list all of them. */
const IssueByName = ({ mount }: { mount: string }) => {
  const [role, setRole] = useState('');
  return (
    <Card title="Issue a certificate">
      <Hint>
        The roles of this authority cannot be listed with this token: enter the name of the one that
        you may use.
      </Hint>
      <Label>
        Role
        <Input
          autoComplete="off"
          value={role}
          onChange={({ target }) => setRole(target.value.trim())}
        />
      </Label>
      {role !== '' && <IssueForm mount={mount} role={role} />}
    </Card>
  );
};

export const RolesTab = () => {
  const { mount } = route.useParams();
  const query = useSecretList(`${mount}/roles`);
  const may = useCapabilities([`${mount}/roles/new`]);
  const { data, error } = query;
  const [isForbidden, setForbidden] = useState(false);
  // The list is read again after each action, and has neither an answer nor an error meanwhile. The form stays, with
  // the key of the certificate that was issued.
  if (!isForbidden && error instanceof ApiProblem && error.status === 403) setForbidden(true);
  if (isForbidden && data !== undefined) setForbidden(false);
  return (
    <>
      {may(`${mount}/roles/new`, 'update') && (
        <FormActions>
          <ActionButton
            label="Create role"
            title="Create a role"
            confirm="Create"
            tone="primary"
            act={(fields) =>
              callSecrets('POST', `${mount}/roles/${encodeURIComponent(fields.text('name'))}`, {
                body: newRoleBody(fields),
              })
            }
            commands={[
              secretsCurl('POST', `${mount}/roles/NAME`, {
                allowed_domains: 'example.com',
                allow_subdomains: true,
                max_ttl: '720h',
              }),
              vaultCommand(
                `vault write ${mount}/roles/NAME allowed_domains=example.com allow_subdomains=true max_ttl=720h`,
              ),
            ]}
          >
            <Label>
              Name
              <Input name="name" required autoComplete="off" pattern="[A-Za-z0-9_\-.]+" />
            </Label>
            <RoleFields role={NEW_ROLE} />
          </ActionButton>
        </FormActions>
      )}
      {isForbidden ? (
        <IssueByName mount={mount} />
      ) : (
        <Loaded query={query}>
          {({ keys }) =>
            keys.length === 0 ? (
              <Empty>There is no role: certificates are issued by one.</Empty>
            ) : (
              keys.map((name) => <RoleCard key={name} mount={mount} name={name} />)
            )
          }
        </Loaded>
      )}
    </>
  );
};
