/** How the page looks: on paper white or by night, on a desk or a phone. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2330; --dim: #5b6472; --line: #dfe3ea; --ground: #fff; --raised: #f5f7fa;
  --link: #0b5cad; --get: #0b6e4f; --post: #0b5cad; --change: #8a5a00; --delete: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --dim: #9aa4b2; --line: #2c3440; --ground: #12161c; --raised: #1a2029;
    --link: #7fb7f5; --get: #5fcfa3; --post: #7fb7f5; --change: #e3b341; --delete: #ff8f87; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
code, pre, .method, .status { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em; }
nav { padding: 1rem; border-bottom: 1px solid var(--line); background: var(--raised); font-size: .9375rem; }
nav p { margin: 0; }
nav > p { display: inline-block; margin-right: .75rem; }
nav p:first-child { font-weight: 600; }
nav ul { display: none; }
main { padding: 0 1rem 4rem; max-width: 62rem; min-width: 0; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 1.5rem 0 1rem; }
h1 small { color: var(--dim); font-weight: 400; font-size: 1rem; }
h2 { font-size: 1.375rem; margin: 3rem 0 .5rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.0625rem; margin: 0; }
h2 a, h3 a { color: inherit; }
.operation { margin: 2.5rem 0; }
.operation p { margin: .25rem 0 .75rem; }
.call code { overflow-wrap: anywhere; }
.method { font-weight: 600; }
.get { color: var(--get); } .post { color: var(--post); } .patch, .put { color: var(--change); } .delete { color: var(--delete); }
.status { font-weight: 600; }
.failures { color: var(--dim); font-size: .875rem; }
.failures a { margin-right: .5rem; }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: .75rem 1rem; margin: .75rem 0;
  overflow-x: auto; line-height: 1.45; }
.curl { user-select: all; }
summary { cursor: pointer; color: var(--dim); margin: .5rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; margin: .75rem 0; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3125rem .75rem .3125rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--dim); font-weight: 500; white-space: nowrap; }
td:not(:last-child) { white-space: nowrap; }
td:last-child { min-width: 14rem; width: 100%; }
.in-1 { padding-left: 1.25rem; } .in-2 { padding-left: 2.5rem; } .in-3 { padding-left: 3.75rem; } .in-4 { padding-left: 5rem; }
.in-5 { padding-left: 6.25rem; }
:target > h2, :target > h3 { text-decoration: underline; text-underline-offset: .25em; }
@media (min-width: 64rem) {
  body { display: grid; grid-template-columns: 20rem 1fr; }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  nav > p { display: block; margin: .75rem 0 .25rem; font-weight: 600; }
  nav ul { display: block; list-style: none; margin: 0; padding: 0; }
  nav li { margin: .125rem 0; line-height: 1.35; padding-left: 3.75rem; text-indent: -3.75rem; }
  nav .method { display: inline-block; width: 3.75rem; text-indent: 0; font-size: .75rem; }
  main { padding: 0 3rem 6rem; }
}
`;
