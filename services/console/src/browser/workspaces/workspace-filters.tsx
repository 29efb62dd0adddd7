/** The filters of the list of workspaces; they are kept in the URL, so that a selection can be shared. */
import { type FormEvent, useEffect, useState } from 'react';
import { Input, Label, SelectField } from '../components/fields.tsx';
import { FilterForm, SearchButton } from '../components/filter-form.tsx';
import { inWords } from '../components/format.ts';
import { ProjectSelect } from '../projects/project-select.tsx';
import type { WorkspaceSearch } from './workspace-search.ts';

const STATUSES = [
  'pending',
  'planning',
  'planned',
  'confirmed',
  'applying',
  'applied',
  'planned_and_finished',
  'discarded',
  'errored',
  'canceled',
];

export const WorkspaceFilters = (props: {
  organization: string;
  search: WorkspaceSearch;
  onChange: (next: WorkspaceSearch) => void;
}) => {
  const { organization, search, onChange } = props;
  const [name, setName] = useState(search.name ?? '');
  const [tags, setTags] = useState(search.tags ?? '');
  // Another address, such as a saved view, brings other texts.
  useEffect(() => setName(search.name ?? ''), [search.name]);
  useEffect(() => setTags(search.tags ?? ''), [search.tags]);
  // A change of one filter also takes the texts that were typed before it.
  const change = (part: WorkspaceSearch = {}): void => {
    const { page: _, ...rest } = search;
    onChange({ ...rest, name, tags, ...part });
  };
  /** Leaving a field that was not changed keeps the page of the list. */
  const applyTexts = (): void => {
    if (name !== (search.name ?? '') || tags !== (search.tags ?? '')) change();
  };
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    change();
  };
  return (
    <FilterForm onSubmit={submit}>
      <Label>
        Name
        <Input
          type="search"
          value={name}
          onChange={({ target }) => setName(target.value)}
          onBlur={applyTexts}
        />
      </Label>
      <Label>
        Tags
        <Input
          type="search"
          placeholder="one,two"
          value={tags}
          onChange={({ target }) => setTags(target.value)}
          onBlur={applyTexts}
        />
      </Label>
      <Label>
        Project
        <ProjectSelect
          organization={organization}
          none="all"
          value={search.project ?? ''}
          onChange={(project) => change({ project })}
        />
      </Label>
      <Label>
        Current run
        <SelectField
          value={search.status ?? ''}
          onChange={({ target }) => change({ status: target.value })}
        >
          <option value="">any</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {inWords(status)}
            </option>
          ))}
        </SelectField>
      </Label>
      <SearchButton />
    </FilterForm>
  );
};
