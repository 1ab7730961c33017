/** Texts that would run if any of them were treated as markup, as a script or as a script's URL. */
const CORPUS: readonly string[] = [
  '<img src=x onerror=window.hit=1>',
  '<script>window.hit=1</script>',
  '"><svg/onload=window.hit=1>',
  "'-window.hit=1-'",
  '</textarea></title></style></script><script>window.hit=1</script>',
  '<iframe srcdoc="<script>parent.hit=1</script>"></iframe>',
  '<details open ontoggle=window.hit=1>x</details>',
  '<a href="javascript:window.hit=1">x</a>',
  '[x](javascript:window.hit=1)',
  '[x](  JaVaScRiPt:window.hit=1)',
  '[x](data:text/html,<script>window.hit=1</script>)',
  '![x](x"onerror="window.hit=1)',
  '![x](https://elsewhere.example/pixel.png)',
  '<https://elsewhere.example/" onmouseover="window.hit=1>',
  '```"><img src=x onerror=window.hit=1>\n<img src=x onerror=window.hit=1>\n```',
  '| <img src=x onerror=window.hit=1> | b |\n|---|---|\n| <svg/onload=window.hit=1> | c |',
  "{{constructor.constructor('window.hit=1')()}}",
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hit=1&gt;">',
  '<object data="javascript:window.hit=1"></object>',
  '<meta http-equiv="refresh" content="0;url=https://elsewhere.example">',
  '\u202e<b onclick=window.hit=1>\u2066',
];

/** All of them in one text, as stored. */
export const ALL = CORPUS.join('\n\n');
/** For fields that do not allow line breaks. */
export const ONE_LINE = CORPUS.slice(0, 9).join(' ');
