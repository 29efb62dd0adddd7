/** Search over screens, entities and actions, by its button or Ctrl+K. */
import {
  Combobox,
  ComboboxGroup,
  ComboboxGroupLabel,
  ComboboxItem,
  ComboboxList,
  ComboboxProvider,
  useComboboxStore,
} from '@ariakit/react/combobox';
import { Dialog } from '@ariakit/react/dialog';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { counted } from '../components/format.ts';
import { chooseTheme, THEMES, useTheme } from '../look/theme.ts';
import { leaveSession } from '../session/sign-out.ts';
import { type Found, type FoundGroup, useFound } from './search-results.ts';
import { ShortcutSheet } from './shortcut-sheet.tsx';
import { useShortcutKeys, useShortcuts } from './shortcuts.ts';

const itemIdOf = ({ address }: Found): string => `found-${address}`;

const Results = (props: { groups: readonly FoundGroup[]; onChoose: (found: Found) => void }) => (
  <ComboboxList className="found" alwaysVisible aria-label="Results">
    {props.groups.map(({ title, found, count }) => (
      <ComboboxGroup key={title}>
        <ComboboxGroupLabel className="found-title">
          {title}
          {count > found.length && ` · ${found.length} of ${count.toLocaleString()}`}
        </ComboboxGroupLabel>
        {found.map((one) => (
          <ComboboxItem
            key={one.address}
            id={itemIdOf(one)}
            className="found-item"
            focusOnHover
            hideOnClick={false}
            setValueOnClick={false}
            onClick={() => props.onChoose(one)}
          >
            {one.title}
            {one.more !== undefined && <small>{one.more}</small>}
          </ComboboxItem>
        ))}
      </ComboboxGroup>
    ))}
  </ComboboxList>
);

/** A press of Enter: the text at that time, and the item selected by arrow keys or pointer. */
interface Entered {
  readonly text: string;
  readonly itemId: string | null | undefined;
}

const SearchBox = (props: { actions: readonly Found[]; onDone: (chosen: Found) => void }) => {
  const [text, setText] = useState('');
  const [entered, setEntered] = useState<Entered>();
  const navigate = useNavigate();
  const results = useFound(text.trim(), props.actions);
  const combobox = useComboboxStore({
    open: true,
    setOpen: () => undefined,
    value: text,
    setValue: (value) => {
      setText(value);
      setEntered(undefined);
      // The selected item belongs to the results of the previous text.
      combobox.setActiveId(null);
    },
  });
  const choose = (chosen: Found): void => {
    const { address, perform } = chosen;
    props.onDone(chosen);
    if (perform === undefined) void navigate({ href: address });
    else perform();
  };
  const count = results.groups.reduce((sum, { found }) => sum + found.length, 0);
  // Enter waits for the results for the current text, which may not have arrived yet.
  useEffect(() => {
    if (entered?.text !== text) return;
    const found = results.groups.flatMap((group) => group.found);
    const chosen = found.find((one) => itemIdOf(one) === entered.itemId) ?? found[0];
    if (chosen === undefined) return;
    setEntered(undefined);
    choose(chosen);
  });
  return (
    <ComboboxProvider store={combobox}>
      <Combobox
        autoFocus
        autoSelect="always"
        placeholder="Page, workspace, certificate, action…"
        aria-label="Search"
        className="search-input"
        onKeyDownCapture={(event) => {
          if (event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          // Ariakit would click the selected item, even if it was found for another text.
          event.preventDefault();
          setEntered({
            text: event.currentTarget.value,
            itemId: combobox.getState().activeId,
          });
        }}
      />
      <p className="unseen" role="status" aria-label="Found">
        {text.trim() === '' ? '' : counted(count, 'result')}
      </p>
      <Results groups={results.groups} onChoose={choose} />
      {results.groups.length === 0 && <p className="empty">Nothing has this name.</p>}
      {results.scopes.map((scope) => (
        <p key={scope} className="found-note">
          {scope}
        </p>
      ))}
    </ComboboxProvider>
  );
};

/** Actions that have no page. */
const useActions = (showShortcuts: () => void): readonly Found[] => {
  const theme = useTheme();
  return [
    ...THEMES.filter((one) => one !== theme).map((one) => ({
      title: `Use the ${one} theme`,
      address: `#theme-${one}`,
      perform: () => chooseTheme(one),
    })),
    { title: 'Show keyboard shortcuts', address: '#shortcuts', perform: showShortcuts },
    { title: 'Sign out', address: '#sign-out', perform: leaveSession },
  ];
};

/** The button of the search, and the keys that open it and others. */
export const SearchButton = () => {
  const [opened, setOpened] = useState<'search' | 'shortcuts'>();
  // One that closes while another opens leaves the other open.
  const close = (which: typeof opened) => (): void =>
    setOpened((current) => (current === which ? undefined : current));
  const showShortcuts = (): void => setOpened('shortcuts');
  const search = (): void => {
    hasGone.current = false;
    setOpened('search');
  };
  // The focus goes to the page or the sheet that was chosen, and otherwise back to where it was.
  const hasGone = useRef(false);
  const shortcuts = useShortcuts({ search, help: showShortcuts });
  useShortcutKeys(shortcuts);
  const actions = useActions(showShortcuts);
  useEffect(() => {
    const open = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      search();
    };
    addEventListener('keydown', open);
    return () => removeEventListener('keydown', open);
  }, []);
  return (
    <>
      <button type="button" className="search-button" aria-haspopup="dialog" onClick={search}>
        Search <kbd>Ctrl K</kbd>
      </button>
      <Dialog
        open={opened === 'search'}
        onClose={close('search')}
        unmountOnHide
        autoFocusOnHide={() => !hasGone.current}
        className="palette"
        aria-label="Search"
        backdrop={<div className="backdrop" />}
      >
        <SearchBox
          actions={actions}
          onDone={({ perform }) => {
            hasGone.current = perform === undefined || perform === showShortcuts;
            close('search')();
          }}
        />
      </Dialog>
      <ShortcutSheet
        shortcuts={shortcuts}
        isOpen={opened === 'shortcuts'}
        onClose={close('shortcuts')}
      />
    </>
  );
};
