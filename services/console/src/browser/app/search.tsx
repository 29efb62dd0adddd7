/** Search over screens, entities and actions, by its button or Ctrl+K. */
import { Dialog } from '@ariakit/react/dialog';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../components/button.tsx';
import { classes } from '../components/classes.ts';
import modalStyles from '../components/modal.module.css';
import { Key } from '../components/text.tsx';
import barStyles from '../components/top-bar.module.css';
import { chooseTheme, THEMES, useTheme } from '../look/theme.ts';
import { leaveSession } from '../session/sign-out.ts';
import styles from './search.module.css';
import type { Found } from './search-results.ts';
import { ShortcutSheet } from './shortcut-sheet.tsx';
import { useShortcutKeys, useShortcuts } from './shortcuts.ts';

const loadSearchBox = () => import('./search-box.tsx');

const SearchBox = lazy(async () => ({ default: (await loadSearchBox()).SearchBox }));

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
  // It is there before anybody presses the button.
  useEffect(() => void loadSearchBox(), []);
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
      <Button
        className={classes(barStyles['button'], styles['button'])}
        aria-haspopup="dialog"
        onClick={search}
      >
        Search <Key className={styles['key']}>Ctrl K</Key>
      </Button>
      <Dialog
        open={opened === 'search'}
        onClose={close('search')}
        unmountOnHide
        autoFocusOnHide={() => !hasGone.current}
        className={styles['palette']}
        aria-label="Search"
        backdrop={<div className={modalStyles['backdrop']} />}
      >
        <Suspense>
          <SearchBox
            actions={actions}
            onDone={({ perform }) => {
              hasGone.current = perform === undefined || perform === showShortcuts;
              close('search')();
            }}
          />
        </Suspense>
      </Dialog>
      <ShortcutSheet
        shortcuts={shortcuts}
        isOpen={opened === 'shortcuts'}
        onClose={close('shortcuts')}
      />
    </>
  );
};
