/** The people of the site, for its administrators: to add and suspend them, to help with lost devices, and to delete them. */
import { getRouteApi } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { DataTable } from '../components/data-table.tsx';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { FilterForm, SearchButton } from '../components/filter-form.tsx';
import { counted } from '../components/format.ts';
import { Card, Page } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { Pill } from '../components/pill.tsx';
import { Hint, Small } from '../components/text.tsx';
import {
  PEOPLE_CHOICES,
  type PeopleSearch,
  parsePeopleSearch,
  peoplePath,
} from './people-search.ts';
import { type Person, PersonActions } from './person-actions.tsx';

type User = ResourceAttributes['users'];

const route = getRouteApi('/app/settings/people');

const Filters = (props: { search: PeopleSearch; onChange: (next: PeopleSearch) => void }) => {
  const { show, text = '' } = props.search;
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const change = (choice: string | undefined): void =>
    props.onChange(parsePeopleSearch({ show: choice, text: typed.trim() }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change(show);
  };
  return (
    <FilterForm aria-label="People" onSubmit={submit}>
      <Label>
        User name or mail address
        <Input type="search" value={typed} onChange={({ target }) => setTyped(target.value)} />
      </Label>
      <Label>
        People who are
        <SelectField value={show ?? ''} onChange={({ target }) => change(target.value)}>
          <option value="">All people</option>
          {PEOPLE_CHOICES.map(([choice, words]) => (
            <option key={choice} value={choice}>
              {words}
            </option>
          ))}
        </SelectField>
      </Label>
      <SearchButton />
    </FilterForm>
  );
};

const State = ({ attributes }: { attributes: User }) => (
  <>
    {attributes['is-suspended'] === true ? (
      <Pill tone="bad">suspended</Pill>
    ) : (
      <Pill tone="good">active</Pill>
    )}{' '}
    {attributes['is-admin'] === true && <Pill tone="accent">administrator</Pill>}{' '}
    {attributes['two-factor']?.enabled === true && <Pill>second factor</Pill>}
  </>
);

const organizationsOf = ({ relationships }: Person): string => {
  const data = relationships?.['organizations']?.data;
  return Array.isArray(data) && data.length > 0 ? data.map(({ id }) => id).join(', ') : '–';
};

const PeopleTable = ({ people, ownId }: { people: readonly Person[]; ownId: string }) => (
  <DataTable
    label="People"
    rows={people}
    keyOf={({ id }) => id}
    columns={[
      {
        title: 'Name',
        isName: true,
        cell: ({ attributes: { username, email } }) => (
          <>
            {username}
            {email !== undefined && (
              <>
                {' '}
                <Small>{email}</Small>
              </>
            )}
          </>
        ),
      },
      {
        title: 'State',
        isUnbroken: true,
        cell: ({ attributes }) => <State attributes={attributes} />,
      },
      { title: 'Organizations', cell: organizationsOf },
      {
        title: 'Actions',
        isActions: true,
        cell: (person) => person.id !== ownId && <PersonActions person={person} />,
      },
    ]}
  />
);

/** Numbers of all accounts, whatever is searched. */
const Counts = ({ counts = {} }: { counts: Readonly<Record<string, number>> | undefined }) => (
  <Hint>
    {`${counts['total'] ?? 0} accounts: ${counts['suspended'] ?? 0} suspended, ${counted(counts['admin'] ?? 0, 'administrator')} of the site.`}
  </Hint>
);

const personBody = (username: string, email: string): object => ({
  data: { type: 'users', attributes: { username, email } },
});

const AddPerson = () => (
  <ActionButton
    label="Add person"
    title="Add a person"
    confirm="Add the account"
    tone="primary"
    opensAt="add-person"
    act={({ text }) =>
      callWorkspaces('POST', 'admin/users', { body: personBody(text('username'), text('email')) })
    }
    commands={[workspacesCurl('POST', 'admin/users', personBody('…', '…'))]}
  >
    <p>
      The account has no password and is in no organization. Where people have passwords, the person
      asks for a link at the sign-in page. To invite somebody to an organization, go to its members
      instead.
    </p>
    <Label>
      User name
      <Input name="username" required autoComplete="off" />
    </Label>
    <Label>
      Mail address
      <Input name="email" type="email" required autoComplete="off" />
    </Label>
  </ActionButton>
);

export const PeoplePage = () => {
  const search = parsePeopleSearch({ ...route.useSearch() });
  const navigate = route.useNavigate();
  const path = peoplePath(search);
  const own = useDocument<OneDocument<User>>('account/details');
  return (
    <Page
      title="People"
      lead="The accounts of the workspace API. Another administrator changes your own account."
      actions={<AddPerson />}
    >
      <Card>
        <Filters search={search} onChange={(next) => void navigate({ search: next })} />
        <PagedList<User> name="people" path={path} empty="Nobody is found.">
          {({ data, meta }) => (
            <>
              <Counts counts={meta?.['status-counts']} />
              <PeopleTable people={data} ownId={own.data?.data.id ?? ''} />
            </>
          )}
        </PagedList>
        <Commands commands={[workspacesCurl('GET', path)]} />
      </Card>
    </Page>
  );
};
