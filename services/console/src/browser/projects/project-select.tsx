/** Selects one of an organization's projects; where there are more than a select shows, they are looked for by name. */
import { useState } from 'react';
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { ListDocument } from '../api/workspaces-api.ts';
import { Input, SelectField } from '../components/fields.tsx';

type Project = ResourceAttributes['projects'];

/** The API's limit of a page. */
const SHOWN = 100;

export const ProjectSelect = (props: {
  organization: string;
  /** Name of the field. */
  name?: string;
  /** Text of the choice without a project. */
  none: string;
  isRequired?: boolean;
  /** The id of the selected project, if another part keeps it; "" for none. */
  value?: string;
  onChange?: (id: string) => void;
  /** Whether a project may be selected. */
  only?: (project: Project) => boolean;
}) => {
  const { name, none, isRequired = false, only = () => true } = props;
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState({ id: props.value ?? '', title: props.value ?? '' });
  const value = props.value ?? chosen.id;
  const path = `organizations/${encodeURIComponent(props.organization)}/projects?page[size]=${SHOWN}`;
  const { data } = useDocument<ListDocument<Project>>(
    text === '' ? path : `${path}&q=${encodeURIComponent(text)}`,
    { keepPrevious: true },
  );
  const found = (data?.data ?? [])
    .filter(({ attributes }) => only(attributes))
    .map(({ id, attributes }) => [id, attributes.name] as const);
  const isFound = value === '' || found.some(([id]) => id === value);
  // The selected project stays when others are looked for, so that the field does not change by itself.
  const kept = [value, chosen.id === value ? chosen.title : value] as const;
  const isLong = (data?.meta?.pagination?.['total-count'] ?? 0) > SHOWN || text !== '';
  return (
    <>
      {isLong && (
        <Input
          type="search"
          aria-label="Part of the project's name"
          placeholder="Search projects"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
      )}
      <SelectField
        name={name}
        aria-label="Project"
        required={isRequired}
        value={value}
        onChange={({ target }) => {
          setChosen({ id: target.value, title: target.selectedOptions[0]?.text ?? '' });
          props.onChange?.(target.value);
        }}
      >
        <option value="">{none}</option>
        {[...(isFound ? [] : [kept]), ...found].map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </SelectField>
    </>
  );
};
