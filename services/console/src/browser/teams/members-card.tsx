/** All members of an organization, and the invitations that are not yet accepted. */
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, includedOne } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { formatTime, inWords } from '../components/format.ts';
import { Card } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import type { User } from './team.ts';

type Membership = ResourceAttributes['organization-memberships'];

const inviteBody = (email: string): object => ({
  data: { type: 'organization-memberships', attributes: { email } },
});

const InviteMember = ({ organization }: { organization: string }) => {
  const path = `organizations/${encodeURIComponent(organization)}/organization-memberships`;
  return (
    <ActionButton
      label="Invite"
      title={`Invite somebody to ${organization}`}
      confirm="Invite"
      act={({ text }) => callWorkspaces('POST', path, { body: inviteBody(text('email')) })}
      commands={[workspacesCurl('POST', path, inviteBody('…'))]}
    >
      <p>
        The user of the address becomes a member. An address without a user gets an invitation by
        mail, where the installation sends mail, and stays invited until it is used.
      </p>
      <Label>
        Mail address
        <Input name="email" type="email" required autoComplete="off" />
      </Label>
    </ActionButton>
  );
};

export const MembersCard = ({ organization }: { organization: string }) => {
  const path = `organizations/${encodeURIComponent(organization)}/organization-memberships?include=user`;
  return (
    <Card
      title="Members of the organization"
      actions={<InviteMember organization={organization} />}
    >
      <PagedList<Membership> name="members" path={path} empty="There is no member.">
        {(document) => (
          <DataTable
            label="Members of the organization"
            rows={document.data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'User',
                isName: true,
                cell: (member) =>
                  includedOne<User>(document, member, 'user')?.attributes.username ?? member.id,
              },
              { title: 'Mail', cell: ({ attributes }) => attributes.email ?? '–' },
              { title: 'State', cell: ({ attributes }) => inWords(attributes.status) },
              { title: 'Since', cell: ({ attributes }) => formatTime(attributes['created-at']) },
              {
                title: 'Actions',
                isActions: true,
                cell: (member) => (
                  <DeleteButton
                    label={member.attributes.status === 'invited' ? 'Withdraw' : 'Remove'}
                    what={
                      member.attributes.status === 'invited'
                        ? 'this invitation'
                        : 'this member from the organization'
                    }
                    name={`${member.attributes.status === 'invited' ? 'Withdraw the invitation of' : 'Remove from the organization:'} ${member.attributes.email ?? member.id}`}
                    path={`organization-memberships/${member.id}`}
                  >
                    The user leaves all its teams and cannot use the organization any more. The last
                    owner cannot be removed.
                  </DeleteButton>
                ),
              },
            ]}
          />
        )}
      </PagedList>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};
