import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { readSession } from '../api/session.ts';
import { callWorkspaces } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { DeleteButton } from '../components/delete-button.tsx';
import { formatTime } from '../components/format.ts';
import { Card } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { leaveSession } from '../session/sign-out.ts';
import { programOf } from './program.ts';

type Session = ResourceAttributes['sessions'];

const PATH = 'account/sessions';

const EndSessions = ({ isSignedIn }: { isSignedIn: boolean }) => (
  <ActionButton
    label="End all sessions"
    tone="danger"
    title="End all sessions?"
    confirm="End them"
    act={() => callWorkspaces('DELETE', PATH)}
    onDone={() => {
      if (readSession().isOwnSession === true) leaveSession();
    }}
    commands={[workspacesCurl('DELETE', PATH)]}
  >
    <p>
      You are signed out everywhere{isSignedIn && ', here too'}. API tokens that were made in a
      session stay.
    </p>
  </ActionButton>
);

/** Where the user is signed in, with buttons that end each session. */
export const SessionsCard = ({ isSignedIn }: { isSignedIn: boolean }) => (
  <Card title="Sessions" actions={<EndSessions isSignedIn={isSignedIn} />}>
    <PagedList<Session>
      name="sessions"
      path={PATH}
      empty="You have used an API token, and are signed in nowhere."
    >
      {({ data }) => (
        <DataTable
          label="Sessions"
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: 'Signed in with',
              isName: true,
              cell: ({ attributes }) => (
                <>
                  {programOf(attributes['user-agent'])}
                  {attributes['is-current'] && ' (this session)'}
                </>
              ),
            },
            { title: 'Since', cell: ({ attributes }) => formatTime(attributes['created-at']) },
            {
              title: 'Last used',
              cell: ({ attributes }) => formatTime(attributes['last-used-at']),
            },
            { title: 'Ends', cell: ({ attributes }) => formatTime(attributes['expires-at']) },
            {
              title: 'Actions',
              isActions: true,
              cell: ({ id, attributes }) => (
                <DeleteButton
                  label="End"
                  what={`the session of ${programOf(attributes['user-agent'])}`}
                  name={`End ${attributes['is-current'] ? 'this session' : `session ${id}`}`}
                  path={`${PATH}/${id}`}
                >
                  Whoever uses it is asked to sign in again. API tokens that were made in it stay.
                </DeleteButton>
              ),
            },
          ]}
        />
      )}
    </PagedList>
    <Commands commands={[workspacesCurl('GET', PATH)]} />
  </Card>
);
