export * from '../report/escape-markdown.js';
