// Bundles the page: `node build.mjs` writes dist/, `node build.mjs --compare` fails if dist/ is not what it would write.
import { readFile, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';

const here = (path) => new URL(path, import.meta.url);
const result = await build({
  absWorkingDir: here('.').pathname,
  entryPoints: [{ in: 'src/main.ts', out: 'live' }, { in: 'src/live.css', out: 'live' }, { in: 'src/worker.ts', out: 'worker' }, { in: 'src/offline.ts', out: 'offline' }],
  outdir: 'dist', bundle: true, minify: true, write: false, format: 'iife', target: ['chrome110', 'firefox115', 'safari16'],
  legalComments: 'inline', charset: 'utf8',
});
const files = new Map(result.outputFiles.map(({ path, contents }) => [path.split('/').at(-1), Buffer.from(contents)]));
files.set('index.html', await readFile(here('src/index.html')));
const stale = [];
let size = 0;
for (const [name, bytes] of files) {
  size += bytes.length;
  const path = here(`dist/${name}`);
  if (!process.argv.includes('--compare')) await writeFile(path, bytes);
  else if (!bytes.equals(await readFile(path).catch(() => Buffer.alloc(0)))) stale.push(name);
}
console.log(`${size} bytes in ${files.size} files`);
if (stale.length > 0) {
  console.error(`not what the sources make: ${stale.join(', ')}; run \`npm run build\` in crates/cwnd-live/page`);
  process.exit(1);
}
