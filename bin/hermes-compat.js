#!/usr/bin/env node
import '../dist/cli/version.js';
