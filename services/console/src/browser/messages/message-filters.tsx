import { Label, SelectField } from '../components/fields.tsx';
import { FilterForm } from '../components/filter-form.tsx';
import { MESSAGE_STATES, type MessageSearch, parseMessageSearch } from './message-search.ts';

/** Filters of the list; they are kept in the URL. */
export const MessageFilters = (props: {
  search: MessageSearch;
  onChange: (next: MessageSearch) => void;
}) => {
  const { search, onChange } = props;
  const change = (part: Readonly<Record<string, string>>): void =>
    onChange(parseMessageSearch({ ...search, ...part }));
  return (
    <FilterForm onSubmit={(event) => event.preventDefault()}>
      <Label>
        State
        <SelectField
          value={search.state ?? ''}
          onChange={({ target }) => change({ state: target.value })}
        >
          <option value="">any</option>
          {MESSAGE_STATES.map((state) => (
            <option key={state} value={state}>
              {state}
            </option>
          ))}
        </SelectField>
      </Label>
      <Label>
        Type
        <SelectField
          value={search.type ?? ''}
          onChange={({ target }) => change({ type: target.value })}
        >
          <option value="">any</option>
          <option value="banner">banner</option>
          <option value="modal">modal</option>
        </SelectField>
      </Label>
    </FilterForm>
  );
};
