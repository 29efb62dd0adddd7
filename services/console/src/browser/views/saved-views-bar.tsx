/** The saved views of a list, and a button that saves the filters of now as one. */
import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { ActionButton } from '../components/action-button.tsx';
import { Anchor } from '../components/anchor.tsx';
import { Button } from '../components/button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Small } from '../components/text.tsx';
import { MAX_NAME_LENGTH, useSavedViews } from './saved-views.ts';
import styles from './views.module.css';

export const SavedViewsBar = <Filter extends object>(props: {
  /** "runs", or "workspaces of NAME" */
  list: string;
  /** The filters of now; without members if there are none. */
  filter: Filter;
  /** The filters that a stored text names, of which the list knows only some. */
  parse: (stored: Readonly<Record<string, unknown>>) => Filter;
  /** The address of the list with these filters. */
  addressOf: (filter: Filter) => string;
}) => {
  const { list, filter, parse, addressOf } = props;
  const saved = useSavedViews(list);
  const navigate = useNavigate();
  if (saved === undefined) return null;
  const { views, save, remove } = saved;
  const shown = views.map(({ name, filter: stored }) => {
    const address = addressOf(parse(stored));
    return { name, address, isCurrent: address === addressOf(filter) };
  });
  const isNarrowed = Object.keys(filter).length > 0;
  if (shown.length === 0 && !isNarrowed) return null;
  return (
    <nav className={styles['views']} aria-label="Saved views">
      {shown.length > 0 && <Small>Views</Small>}
      <ul className={styles['list']}>
        {shown.map(({ name, address, isCurrent }) => (
          <li key={name} className={styles['view']}>
            <Anchor
              className={styles['link']}
              href={address}
              aria-current={isCurrent ? 'true' : undefined}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
                event.preventDefault();
                void navigate({ href: address });
              }}
            >
              {name}
            </Anchor>
            <Button
              look="small plain"
              aria-label={`Delete the view ${name}`}
              onClick={() => remove(name)}
            >
              <X aria-hidden="true" size={14} />
            </Button>
          </li>
        ))}
      </ul>
      {isNarrowed && !shown.some(({ isCurrent }) => isCurrent) && (
        <ActionButton
          label="Save view"
          title="Save these filters as a view"
          confirm="Save"
          look="small"
          act={({ text }) => {
            save({ name: text('name').trim(), filter: Object.fromEntries(Object.entries(filter)) });
            return Promise.resolve();
          }}
          commands={[]}
        >
          <p>
            The view is kept in this browser for your account. A view with the same name is
            replaced. Others see the same list by its address.
          </p>
          <Label>
            Name
            <Input
              name="name"
              required
              autoComplete="off"
              maxLength={MAX_NAME_LENGTH}
              pattern=".*\S.*"
            />
          </Label>
        </ActionButton>
      )}
    </nav>
  );
};
