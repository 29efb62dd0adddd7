/** The screens that whoever has signed in may open. */
import { useSession } from '../api/session.ts';
import { useIsSiteAdministrator } from '../organizations/site-switches.tsx';
import { SCREEN_GROUPS, type ScreenGroup, SITE_PATHS } from './screens.ts';

export const useScreens = (): readonly ScreenGroup[] => {
  const session = useSession();
  const isSiteAdministrator = useIsSiteAdministrator(session.workspaces !== undefined);
  return SCREEN_GROUPS.filter(({ needs }) => session[needs] !== undefined).map((group) => ({
    ...group,
    screens: group.screens.filter(({ to }) => isSiteAdministrator || !SITE_PATHS.has(to)),
  }));
};
