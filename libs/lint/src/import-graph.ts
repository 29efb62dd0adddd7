/**
 * The import graph, folder by folder. The units of a folder are its subfolders and its own files; an import
 * is an edge in the deepest folder that contains both ends. Type imports count, because a reader who follows
 * a type into another folder depends on it.
 */
import { posix } from 'node:path';
import { parseSync } from 'oxc-parser';

/**
 * One import. Both ends are file paths from the root of the repository; a package is represented by its
 * folder.
 */
export interface Import {
  readonly from: string;
  readonly to: string;
}

/**
 * For each folder ("" is the root) its layers, lowest first; a layer names subfolders, separated by spaces.
 */
export type AllowedImports = Readonly<Record<string, readonly string[]>>;

/** Folders of the packages by package name: `{ '@keelson/errors': 'libs/errors' }`. */
export type PackageFolders = Readonly<Record<string, string>>;

/** Imports of a file from this repository: relative specifiers and workspace packages. */
export const importsOf = (file: string, text: string, packages: PackageFolders): Import[] => {
  const { module: parsed } = parseSync(file, text);
  const specifiers = new Set([
    ...parsed.staticImports.map((each) => each.moduleRequest.value),
    ...parsed.staticExports.flatMap((each) =>
      each.entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
    ...parsed.dynamicImports.map(({ moduleRequest }) =>
      text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
    ),
  ]);
  return [...specifiers].flatMap((specifier) => {
    if (specifier.startsWith('.'))
      return [{ from: file, to: posix.join(posix.dirname(file), specifier) }];
    const folder = packages[specifier.split('/', 2).join('/')];
    return folder === undefined || isInside(file, folder) ? [] : [{ from: file, to: folder }];
  });
};

const isInside = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);

/** An import as an edge between two units of `folder`, the deepest folder that contains both ends. */
interface Arrow {
  readonly folder: string;
  readonly from: string;
  readonly to: string;
  readonly cause: Import;
}

const arrowOf = (cause: Import): Arrow | undefined => {
  const from = cause.from.split('/');
  const to = cause.to.split('/');
  const depth = from.findIndex((segment, index) => segment !== to[index]);
  const fromUnit = from[depth];
  const toUnit = to[depth];
  if (fromUnit === undefined || toUnit === undefined) return undefined;
  return { folder: from.slice(0, depth).join('/'), from: fromUnit, to: toUnit, cause };
};

const arrowsByFolder = (imports: readonly Import[]): Map<string, Arrow[]> =>
  Map.groupBy(
    imports.flatMap((each) => arrowOf(each) ?? []),
    ({ folder }) => folder,
  );

const shown = ({ from, to }: Import): string => `    ${from} imports ${to}`;

/** The shortest cycle through `start`; undefined if there is none. */
const circleFrom = (start: string, arrows: ReadonlyMap<string, readonly Arrow[]>) => {
  const ways: Arrow[][] = (arrows.get(start) ?? []).map((arrow) => [arrow]);
  const seen = new Set<string>();
  for (let way = ways.shift(); way !== undefined; way = ways.shift()) {
    const end = way.at(-1)?.to ?? start;
    if (end === start) return way;
    if (seen.has(end)) continue;
    seen.add(end);
    for (const arrow of arrows.get(end) ?? []) ways.push([...way, arrow]);
  }
  return undefined;
};

/** Reports import cycles between the units of each folder, with one import per edge. */
export const findCircles = (imports: readonly Import[]): string[] =>
  [...arrowsByFolder(imports)].flatMap(([folder, arrows]) => {
    const byUnit = Map.groupBy(arrows, ({ from }) => from);
    const reported = new Set<string>();
    return [...byUnit.keys()].flatMap((unit) => {
      if (reported.has(unit)) return [];
      const circle = circleFrom(unit, byUnit);
      if (circle === undefined) return [];
      for (const { to } of circle) reported.add(to);
      const path = [unit, ...circle.map(({ to }) => to)].join(' → ');
      return [[`${folder}: circle ${path}`, ...circle.map(({ cause }) => shown(cause))].join('\n')];
    });
  });

/** Files directly in a folder may import all of its subfolders; cycles between both are found separately. */
const isFolder = (unit: string): boolean => !unit.includes('.');

const refusedIn = (
  folder: string,
  layers: readonly string[],
  arrows: readonly Arrow[],
): string[] => {
  const layerOf = new Map(
    layers.flatMap((layer, index) => layer.split(' ').map((unit) => [unit, index] as const)),
  );
  const unnamed = new Set(arrows.flatMap(({ from, to }) => [from, to])).difference(layerOf);
  const refused = arrows.filter(
    ({ from, to }) => Number(layerOf.get(from)) <= Number(layerOf.get(to)),
  );
  return [
    ...[...unnamed].map((unit) => `${folder}: no layer of the allowed graph names ${unit}`),
    ...[...Map.groupBy(refused, ({ from, to }) => `${from} → ${to}`)].map(([arrow, causes]) =>
      [
        `${folder}: the allowed graph has no arrow ${arrow}`,
        ...causes.map(({ cause }) => shown(cause)),
      ].join('\n'),
    ),
  ];
};

/**
 * Reports imports that the allowed graph forbids: a subfolder may import only the layers before its own. Also
 * reports a folder `src` whose subfolders import each other without declared layers, and a subfolder missing
 * from the layers.
 */
export const findForbidden = (imports: readonly Import[], allowed: AllowedImports): string[] =>
  [...arrowsByFolder(imports)].flatMap(([folder, all]) => {
    const arrows = all.filter(({ from, to }) => isFolder(from) && isFolder(to));
    const layers = allowed[folder];
    if (layers !== undefined) return refusedIn(folder, layers, arrows);
    return folder.endsWith('/src') && arrows.length > 0
      ? [`${folder}: the allowed graph has no layers for it`]
      : [];
  });

/** Reports files of libs and services that import from a folder outside the product. */
export const findOutsideImports = (
  imports: readonly Import[],
  outsideProduct: readonly string[],
): string[] =>
  imports
    .filter(({ from, to }) => {
      const isOutside = (path: string): boolean =>
        outsideProduct.some((folder) => path === folder || path.startsWith(`${folder}/`));
      return /^(libs|services)\//.test(from) && !isOutside(from) && isOutside(to);
    })
    .map(({ from, to }) => `${from} is part of the product and imports ${to}`);
