/** The settings of an organization that say who comes in to it, and with which tokens. */
import { useParams } from '@tanstack/react-router';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import {
  callWorkspaces,
  type ListDocument,
  type OneDocument,
  type Resource,
} from '../api/workspaces-api.ts';
import { workspacesCurl } from '../components/commands.tsx';
import { DURATION, DURATION_WORDS, durationSeconds, durationText } from '../components/duration.ts';
import { Input, Label } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page } from '../components/page.tsx';
import { Select } from '../components/select.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditForm } from '../editing/edit-form.tsx';
import { type EditTarget, workspaceTarget } from '../editing/edit-target.ts';
import { Fault } from '../editing/faults.tsx';
import { OrganizationTokens } from './organization-tokens.tsx';

type Organization = ResourceAttributes['organizations'];
type Lifetime = ResourceAttributes['organization-token-ttl-policies'];

const FACTORS = [
  ['password', 'not required'],
  ['two_factor_mandatory', 'required of every member'],
] as const;

const accessOf = ({ attributes }: Resource<Organization>) => ({
  'collaborator-auth-policy': attributes['collaborator-auth-policy'],
  'user-tokens-enabled': attributes['user-tokens-enabled'],
  'max-ttl-enabled': attributes['max-ttl-enabled'],
});

const Access = ({ organization }: { organization: Resource<Organization> }) => (
  <Card title="Access">
    <EditForm
      edits="organization"
      label="Access"
      save="Save access"
      hasFaults
      document={organization}
      target={workspaceTarget<Organization>(
        `organizations/${encodeURIComponent(organization.id)}`,
        'organizations',
      )}
      valuesOf={accessOf}
      bodyOf={(changed) => ({ attributes: changed })}
      fields={(values) => (
        <>
          <Label>
            A second factor is
            <Select
              name="collaborator-auth-policy"
              value={values['collaborator-auth-policy']}
              options={FACTORS}
            />
            <Fault of="collaborator-auth-policy" />
          </Label>
          <Choice name="user-tokens-enabled" isTicked={values['user-tokens-enabled']}>
            API tokens of members give access, not only sessions
          </Choice>
          <Choice name="max-ttl-enabled" isTicked={values['max-ttl-enabled']}>
            API tokens that were made for longer than below are refused
          </Choice>
        </>
      )}
    />
  </Card>
);

const DAY_SECONDS = 86_400;

const textOf = (ms: number): string => {
  const seconds = ms / 1000;
  return seconds % DAY_SECONDS === 0 ? `${seconds / DAY_SECONDS}d` : durationText(seconds);
};

const KINDS = [
  ['user', 'Of a member'],
  ['team', 'Of a team'],
  ['organization', 'Of the organization'],
  ['audit_trails', 'Of the audit trail'],
] as const;

/** Durations by the kind of token. */
const lifetimesOf = (limits: readonly Resource<Lifetime>[]): Record<string, string> =>
  Object.fromEntries(
    limits
      .filter(({ attributes }) => KINDS.some(([kind]) => kind === attributes['token-type']))
      .map(({ attributes }) => [attributes['token-type'], textOf(attributes['max-ttl-ms'])]),
  );

const lifetimesTarget = (path: string): EditTarget<readonly Resource<Lifetime>[]> => {
  const bodyOf = (members: object): object => ({
    data: { type: 'organization-token-ttl-policies', ...members },
  });
  return {
    read: async () => (await callWorkspaces<ListDocument<Lifetime>>('GET', path)).data,
    send: (members) => callWorkspaces('PATCH', path, { body: bodyOf(members) }),
    command: (members) => workspacesCurl('PATCH', path, bodyOf(members)),
  };
};

const limitsIn = (changed: Partial<Record<string, string>>): object => ({
  attributes: {
    'token-ttl-policies': Object.entries(changed).map(([kind, text = '']) => ({
      'token-type': kind,
      'max-ttl-ms': (durationSeconds(text) ?? 0) * 1000,
    })),
  },
});

const Lifetimes = (props: { path: string; limits: readonly Resource<Lifetime>[] }) => (
  <Card title="Longest lifetime of API tokens">
    <EditForm
      edits="token-lifetimes"
      label="Longest lifetime of API tokens"
      save="Save lifetimes"
      document={props.limits}
      target={lifetimesTarget(props.path)}
      valuesOf={lifetimesOf}
      bodyOf={limitsIn}
      fields={(values) => (
        <>
          <p>
            Counted from its creation to its end. A shorter limit also refuses tokens that were made
            before. Agents keep the token of their pool, and sessions end by themselves.
          </p>
          {KINDS.map(([kind, label]) => (
            <Label key={kind}>
              {label}
              <Input
                name={kind}
                required
                autoComplete="off"
                pattern={DURATION}
                title={DURATION_WORDS}
                defaultValue={values[kind]}
              />
            </Label>
          ))}
        </>
      )}
    />
  </Card>
);

const Settings = ({ organization }: { organization: Resource<Organization> }) => {
  const path = `organizations/${encodeURIComponent(organization.id)}/token-ttl-policies`;
  const limits = useDocument<ListDocument<Lifetime>>(path);
  return (
    <>
      <Access organization={organization} />
      <Loaded query={limits}>{({ data }) => <Lifetimes path={path} limits={data} />}</Loaded>
    </>
  );
};

export const OrganizationPage = () => {
  const { organization } = useParams({ from: '/app/$organization/settings' });
  const query = useDocument<OneDocument<Organization>>(
    `organizations/${encodeURIComponent(organization)}`,
  );
  return (
    <Page
      title="Settings"
      windowTitle={`Settings of ${organization}`}
      lead={`Who comes in to ${organization}, and with which tokens.`}
    >
      <Loaded query={query}>
        {({ data }) => (
          <>
            {data.attributes.permissions['can-update'] ? (
              <Settings organization={data} />
            ) : (
              <Card>
                <p>Owners of the organization change its settings.</p>
              </Card>
            )}
            {data.attributes.permissions['can-update-api-token'] && (
              <OrganizationTokens organization={data.id} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
};
