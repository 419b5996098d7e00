-- key: page_date, page_urlpath
-- date: page_date
-- tags: shop, daily
-- description: One row per day and page: how often it was seen and by how many.

-- A run brings whole sessions, not whole days: each day and page that it touches is made anew, from
-- all stored page views of that day and page.
select
    start_tstamp_date as page_date,
    page_urlpath,
    count(*) as page_views,
    count(distinct domain_userid) as visitors
from page_views_this_run
where page_urlpath is not null
group by start_tstamp_date, page_urlpath
